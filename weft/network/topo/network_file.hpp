// SPDX-License-Identifier: Apache-2.0
// The [network] table of a description, and whatever else a user may give to name a network. Whole
// descriptions are read by weft/simulate/machine.
#pragma once  // Public, for networks: stays within 0.1; shapes and fields may be added.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

struct NetworkWords {
  std::string topology;                 // A spec.
  std::optional<int> nodes_per_router;  // Not given: the spec's.
  std::optional<int> planes, rails;     // Not given: the spec's, or one.
  // "A-B": breaks one cable between routers A and B. "random:3" or "random:3,seed=2": breaks as
  // many, drawn among those without which all nodes are still connected.
  std::vector<std::string> down;
};
Result<NetworkWords> read_network_words(ConfigTable table);

// The network of such a table. A graph file's path counts from `folder`. Without planes and rails
// nodes have so many cards, each an end of the network, if the number of ends allows it.
Result<Topology> read_topology(const ConfigTable& table, const std::string& folder, int cards = 1);

// The network with the cables between two routers, "A-B", in a class of that name, so that they can
// have a rate and a delay of their own.
Result<Topology> name_cables(Topology topology, const std::string& name);

// The spec of what a user named: a spec ("torus:4x4") stays as it is, a file is a graph file.
Result<std::string> find_spec(std::string_view spec_or_path);

// The network of a spec or a graph file.
Result<Topology> load_topology(std::string_view spec_or_path);

}  // namespace weft
