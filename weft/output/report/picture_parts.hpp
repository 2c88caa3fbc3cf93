// SPDX-License-Identifier: Apache-2.0
// The parts of draw().
#pragma once

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

std::string draw_network(const RunView& view, const PictureRequest& request);
std::string draw_placement(const RunView& view);

}  // namespace weft::report
