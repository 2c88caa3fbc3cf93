// SPDX-License-Identifier: Apache-2.0
// What a network's shape says about sets of its slots: where to cut them, and how far apart they
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/study/map/problem.hpp>

namespace weft::map {

struct Area {
  std::vector<double> middle;  // On a grid: its coordinates.
  RouterId router{0};          // One in the midst of it.
};

class Geometry {
 public:
  // last_axis_first: of axes that are equally long, the last is cut first. The problem outlives it.
  Geometry(const Problem& problem, std::uint32_t seed, bool last_axis_first);

  Area describe(const std::vector<std::uint32_t>& slots) const;
  double apart(const Area& a, const Area& b) const;
  // Puts the slots of the first half first; answers how many that are.
  std::size_t divide(std::vector<std::uint32_t>& slots) const;

 private:
  RouterId router(std::uint32_t slot) const;
  int place(std::uint32_t slot, std::size_t axis) const;
  std::size_t longest_axis(const std::vector<std::uint32_t>& slots, int& length) const;
  std::size_t divide_grid(std::vector<std::uint32_t>& slots) const;
  std::size_t divide_graph(std::vector<std::uint32_t>& slots) const;

  const Problem& problem_;
  std::uint32_t seed_;
  bool last_axis_first_;
  std::vector<GridAxis> axes_;  // Empty: no grid.
  bool in_a_row_ = false;       // Numbers of near nodes are near each other.
};

}  // namespace weft::map
