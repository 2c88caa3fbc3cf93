// SPDX-License-Identifier: Apache-2.0
// All that is compared of a network: shape, parts, zero-load latency, capacity, cost.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/simulate/machine/description.hpp>
#include <weft/study/compare/capacity.hpp>
#include <weft/study/compare/cost.hpp>
#include <weft/study/compare/prices.hpp>

namespace weft::compare {

struct Latency {  // Of a packet of one flit, alone in the network; from card to card.
  double mean_ns = 0, most_ns = 0;
  bool exact = true;  // Else from a sample of the pairs.
};

struct NetworkFacts {
  std::string network, profile, routing;
  Rate link_rate;                     // Of cables between routers whose class says nothing else.
  Duration router_latency;            // Of a packet that waits for nothing.
  std::vector<std::string> warnings;  // What holds what back.
  Facts shape;
  Parts parts;
  double bisection_per_node = 0;  // Bytes per second, each way, with the slowest class of cables.
  Latency latency;
  Capacity capacity;
  bool detours = false;  // The routing leaves the paths that the capacity is counted on.
  Cost cost;
};

// Where a node cannot reach another the error says which.
Result<NetworkFacts> find_network_facts(const MachineReader& reader, const Prices& prices);

}  // namespace weft::compare
