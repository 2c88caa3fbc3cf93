// SPDX-License-Identifier: Apache-2.0
// Grids and rings hidden in a pattern. Whatever the ranks are called, a stencil's graph is a
// product of rings and paths, and a product can be read off its squares: two edges that meet belong
// to different dimensions exactly if they span one square, and opposite sides of a square to the
// same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/study/map/problem.hpp>

namespace weft::map {

// Ranks seen as points of a grid: rank order[i] has the number i there, first side fastest.
struct Numbering {
  std::string name;                  // "given", "grid 64x64", "ring"
  std::vector<std::uint32_t> order;  // Talking ranks first if there are silent ones.
  std::vector<std::uint32_t> sides;  // Their product is the number of ranks that stand in the grid.
  std::vector<bool> cyclic;          // Do the ends of a side talk?
};

// As the ranks are numbered.
Numbering as_given(const Problem& problem);

// Those found, the best founded first: from the heaviest talks alone, from more of them, from all;
// and rings made of talks of one size. Silent ranks come last in their order.
std::vector<Numbering> find_grids(const Problem& problem);

}  // namespace weft::map
