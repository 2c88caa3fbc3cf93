// SPDX-License-Identifier: Apache-2.0
// What can be said about a network without running anything on it. Broken cables count as absent
// everywhere but in `cables` and `cables_down`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

std::string_view to_text(Ground ground);

struct ClassFacts {
  std::string name;
  std::uint64_t cables = 0;
};

// Cables between the routers of two nodes: the most, and the mean over pairs of different nodes.
struct DistanceFacts {
  int diameter = 0;
  double average = 0;
  Ground ground = Ground::exact;
  std::uint32_t sources = 0;  // With Ground::sample: the routers searched from.
};

struct Facts {
  std::uint32_t nodes = 0;
  int cards = 1;  // Of a node.
  std::uint32_t routers = 0;
  std::uint32_t cables = 0;
  std::uint32_t cables_down = 0;
  std::vector<std::string> names_down;  // As find_cables_down().
  std::vector<ClassFacts> classes;
  // Per router: ports with a cable, and nodes; where nodes have several cards, these.
  int network_ports_min = 0;
  int network_ports_max = 0;
  int nodes_min = 0;
  int nodes_max = 0;
  // Nothing where some node cannot reach another, or there are no nodes.
  std::optional<DistanceFacts> distance;
  std::optional<Bisection> bisection;
};

// The same network gives the same facts, searches included.
Facts find_facts(const Topology& topology);

// The cables that are down, "L1.11-L2.0", from the router with the lower number.
std::vector<std::string> find_cables_down(const Topology& topology);
// "3: L1.11-L2.0, L1.2-L2.1, L1.9-L2.4", after eight names "and 5 more".
std::string list_cables(const std::vector<std::string>& names);

// Can every card reach those of the same number at all other nodes? The error names a pair that
// cannot, or says there are no nodes.
Status validate(const Topology& topology);

}  // namespace weft
