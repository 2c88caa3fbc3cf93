// SPDX-License-Identifier: Apache-2.0
// The map that Scotch makes, a partitioner that knows networks: what every other map is held
// against. It minimises hop-bytes alone.
#pragma once

#include <weft/base/result.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

bool has_scotch();  // Was it there when weft was built, and is it now?

// Ranks that Scotch puts on a full node go to the nearest one that has room. Fails without Scotch,
// or on a network that is too large for it.
Result<RankMap> scotch_map(const Problem& problem);

}  // namespace weft::map
