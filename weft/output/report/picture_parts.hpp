// SPDX-License-Identifier: Apache-2.0
// The parts of draw().
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <weft/output/report/picture.hpp>
#include <weft/output/report/sheet.hpp>

namespace weft::report {

struct AxisUnit {
  std::string name;
  double size = 1;  // In base units.
};
// The unit in which an axis that ends at `most` is easiest to read.
AxisUnit axis_unit(double most, const Unit& unit);

// How a network is coloured.
struct Palette {
  std::function<Colour(std::uint32_t router)> router;
  std::function<Colour(std::size_t link)> link;
  // From 0 to 1: busier links are thicker and drawn over others. Empty: all are alike.
  std::function<double(std::size_t link)> weight = {};
  std::optional<std::size_t> busiest = std::nullopt;  // A link to be named in the picture.
};

// "g0.r1 to g2.r0".
std::string link_name(const NetworkFacts& network, std::size_t link);

// Draws a tree or graph and returns the height that it took.
double draw_lines(Sheet& sheet, const Box& box, const NetworkFacts& network,
                  const Palette& palette);

std::string draw_network(const RunView& view, const PictureRequest& request);
std::string draw_placement(const RunView& view);

}  // namespace weft::report
