// SPDX-License-Identifier: Apache-2.0
// Slots in a row such that neighbours in the row are near each other in the network.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/study/map/problem.hpp>

namespace weft::map {

// Back and forth through a mesh or torus, each step to a neighbour; by number in other networks.
std::vector<std::uint32_t> snake(const Problem& problem);

// Halves of halves of the network one after the other, so that what is near in the row is in one
// small box; on any network.
std::vector<std::uint32_t> blocks(const Problem& problem);

}  // namespace weft::map
