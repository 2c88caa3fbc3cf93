// SPDX-License-Identifier: Apache-2.0
// Placements as a picture: every node of the network, coloured by where its rank would stand in the
// order of the nodes. What is in order shows as stripes; what a map moved is seen at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/study/map/problem.hpp>

namespace weft::map {

struct PictureSheet {
  std::string label{};
  std::vector<std::uint32_t> nodes{};  // By rank.
};

struct Picture {
  std::string title{};
  std::vector<PictureSheet> sheets{};  // Side by side, such as before and after.
};

// A complete SVG document. Cubes are drawn as slices of x and y, others as rows of nodes by router
// in blocks by group or subtree. Free nodes are blank, forbidden ones hatched, a node with several
// ranks is divided. Beyond 80,000 places, ranks of a node and then neighbours in a row are drawn as
// one, in the colour of most of them; the picture says so.
std::string draw_placement(const Problem& problem, const Picture& picture);

}  // namespace weft::map
