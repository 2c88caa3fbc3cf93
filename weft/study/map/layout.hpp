// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a network stand on paper, and which of them belong together. Private to map.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/study/map/problem.hpp>

namespace weft::map {

// Rows of nodes that are drawn as one block: a slice of a cube, a group, the leaves of a subtree.
struct Panel {
  std::string label;
  std::uint32_t column = 0, row = 0;  // Among the panels.
  std::vector<std::vector<std::uint32_t>> rows;
};

struct Layout {
  std::vector<Panel> panels;
  std::uint32_t columns = 1, rows = 1;  // Columns and rows of panels.
  std::uint32_t width = 1, height = 1;  // Size of the largest panel, in nodes.
  std::string labels;                   // What the panels' labels mean, where they do not say it.
};

Layout lay_out(const Topology& topology);

// The colour of a rank says where it stands in the order of the nodes: the plane of equal y in a
// cube (as RMATT's figures have it), the group, leaf or router elsewhere. Only those with ranks
// count; at most 64, and where there are more, neighbours share one.
struct Planes {
  std::vector<std::uint32_t> of_rank;
  std::vector<std::string> names;
};

Planes find_planes(const Problem& problem);

// "#rrggbb" for each of `count` planes. Up to 16 are told apart with any kind of colour blindness;
// more are a gradient from dark to light.
std::vector<std::string> plane_colours(std::size_t count);

}  // namespace weft::map
