// SPDX-License-Identifier: Apache-2.0
// A search for a small cut into two halves, for graphs without a closed form. Private to topo.
#pragma once

#include <cstdint>

#include <weft/network/topo/graph.hpp>

namespace weft::detail {

// The fewest usable cables found between two halves of the nodes: never fewer than the optimum.
// The same graph gives the same answer.
std::uint64_t search_bisection(const Graph& graph);

// How unequal, in nodes, the halves of this graph may be: what putting the routers with most nodes
// first, always on the lighter side, achieves.
std::uint64_t unavoidable_difference(const Graph& graph);

}  // namespace weft::detail
