// SPDX-License-Identifier: Apache-2.0
// Networks for the tests of routing.
#pragma once

#include <string_view>
#include <vector>

#include <weft/network/topo/topology.hpp>

namespace weft {

// Aborts on a bad spec. "irregular" is a graph of no family: uneven degrees, two cables side by
// side, a router without nodes.
Topology test_network(std::string_view spec);

// Small ones of every family.
std::vector<std::string_view> test_network_specs();

// The same network with these cables broken (numbers in the order of Graph's links, first seen
// end).
Topology break_cables(const Topology& topology, const std::vector<LinkId>& links);

// Pairs of nodes whose way crosses the busiest link. The routing has a single path for each.
int pairs_on_busiest_link(const Topology& topology, std::string_view routing, int vcs);

}  // namespace weft
