// SPDX-License-Identifier: Apache-2.0
// A map from wishes: each rank names a router.
#pragma once

#include <vector>

#include <weft/study/map/problem.hpp>

namespace weft::map {

// In the order of the ranks, each gets a slot at the router it wants or, if that is full, at the
// nearest that is not. Fixed ranks come first.
RankMap seat(const Problem& problem, const std::vector<RouterId>& wanted);

}  // namespace weft::map
