// SPDX-License-Identifier: Apache-2.0
// Places the labels of vertical lines in rows above a chart, so that no label covers another one
// or is crossed by another label's line.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace weft {

struct LineLabel {
  double at = 0;  // Where its line stands.
  double width = 0;
};

struct PlacedLabel {
  double x = 0;  // Its left end.
  int row = 0;   // 0 is nearest to the chart.
};

// In the order of `labels`. REQUIRES: low <= at <= high for each.
std::vector<PlacedLabel> place_labels(std::span<const LineLabel> labels, double low, double high);

// An estimate on the safe side for text of `size` pixels, in UTF-8.
double text_width(const std::string& text, double size);

}  // namespace weft
