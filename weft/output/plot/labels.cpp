// SPDX-License-Identifier: Apache-2.0
#include "weft/output/plot/labels.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace weft {
namespace {

constexpr double gap = 4;

class Rows {
 public:
  Rows(std::span<const LineLabel> labels, double low, double high)
      : labels_(labels), placed_(labels.size(), PlacedLabel{0, -1}) {
    for (std::size_t i = 0; i < labels.size(); ++i) placed_[i].x = left_end(labels[i], low, high);
  }

  // From right to left: a label extends to the right of its line, over lines placed already.
  std::vector<PlacedLabel> place() {
    std::vector<std::size_t> order(labels_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return labels_[a].at != labels_[b].at ? labels_[a].at > labels_[b].at : a > b;
    });
    for (const std::size_t i : order) {
      const int rows = static_cast<int>(labels_.size());
      int row = 0;
      while (row < rows && !fits(i, row, true)) ++row;
      // Where every row is crossed by a line, labels that do not meet are the best there is.
      if (row == rows)
        for (row = 0; !fits(i, row, false);) ++row;
      placed_[i].row = row;
    }
    return placed_;
  }

 private:
  // A label stands on the right of its line, on the left where the right has no room; where
  // neither side has room it is moved inside.
  static double left_end(const LineLabel& label, double low, double high) {
    if (label.at + gap + label.width <= high) return label.at + gap;
    if (label.at - gap - label.width >= low) return label.at - gap - label.width;
    return std::max(low, high - label.width);
  }
  bool covers(std::size_t i, double at) const {
    return at > placed_[i].x - gap && at < placed_[i].x + labels_[i].width + gap;
  }
  bool meet(std::size_t i, std::size_t j) const {
    return placed_[i].x < placed_[j].x + labels_[j].width + gap &&
           placed_[j].x < placed_[i].x + labels_[i].width + gap;
  }
  bool fits(std::size_t i, int row, bool lines) const {
    for (std::size_t j = 0; j < labels_.size(); ++j) {
      const int other = placed_[j].row;
      if (j == i || other < 0) continue;
      if (other == row && meet(i, j)) return false;
      if (!lines || other == row) continue;
      if (other > row ? covers(i, labels_[j].at) : covers(j, labels_[i].at)) return false;
    }
    return true;
  }

  std::span<const LineLabel> labels_;
  std::vector<PlacedLabel> placed_;
};

}  // namespace

std::vector<PlacedLabel> place_labels(std::span<const LineLabel> labels, double low, double high) {
  return Rows(labels, low, high).place();
}

double text_width(const std::string& text, double size) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;  // Not inside a UTF-8 sequence.
  });
  return 0.62 * size * static_cast<double>(letters);
}

}  // namespace weft
