// SPDX-License-Identifier: Apache-2.0
// Breadth-first search over usable cables: what holds for any graph, broken or not.
#pragma once  // Public, for networks: stays within 0.1; shapes and fields may be added.

#include <optional>
#include <utility>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/network/topo/graph.hpp>

namespace weft {

// Cables from `from` to every router; -1 where there is no way.
std::vector<int> distances_from(const Graph& graph, RouterId from);

// One shortest path, as the links it crosses; of several, the one that takes the lowest port first.
// Nothing when there is no way.
std::optional<std::vector<LinkId>> shortest_path(const Graph& graph, RouterId from, RouterId to);

// Two nodes of which one cannot reach the other although they are cards of the same number; nothing
// if there are none. `cards` as in Topology.
std::optional<std::pair<NodeId, NodeId>> find_cut_off(const Graph& graph, int cards);

}  // namespace weft
