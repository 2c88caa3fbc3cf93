// SPDX-License-Identifier: Apache-2.0
// Ranks in two halves of given sizes: those that talk much together, and each on the side that it
// is drawn to from outside. METIS makes the first cut; moves of single ranks (Fiduccia and
// Mattheyses) mend it, as METIS keeps neither to exact sizes nor to what pulls from outside.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::map {

struct Group {
  // Neighbours within the group, as in HalvingTask.
  std::vector<std::uint32_t> first, peer;
  std::vector<double> weight;
  std::vector<double> pull;  // To the first half if above 0: what it costs to be in the second.
};

// 0 or 1 for each; `wanted` of them are 0. Without METIS the first cut is by number.
std::vector<std::uint8_t> halve(const Group& group, std::uint32_t wanted, std::uint32_t seed);

// What halves cost: the weights between them, and pulls not followed.
double cost(const Group& group, const std::vector<std::uint8_t>& side);

}  // namespace weft::map
