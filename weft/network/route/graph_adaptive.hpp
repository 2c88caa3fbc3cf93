// SPDX-License-Identifier: Apache-2.0
// `min-adaptive` on any graph, broken cables left out (Duato): any cable of a shortest path in the
// adaptive VCs, the roomiest first, and as escape a shortest path in layers, in VCs of its own.
#pragma once

#include <weft/network/route/families.hpp>

namespace weft::detail {

int vcs_graph_adaptive(const Topology& t);
MadePolicy make_graph_adaptive(const Topology& t, int vcs);

}  // namespace weft::detail
