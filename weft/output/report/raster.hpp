// SPDX-License-Identifier: Apache-2.0
// Pictures of many small cells, embedded in SVG as PNG: one rectangle per cell would be too large.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::report {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};

// The colours of the page: light to dark, perceptually uniform, also for colour-blind readers.
// `share` is from 0 (idle, grey) to 1.
Colour heat_colour(double share);
// For positions in an order, from 0 to 1.
Colour order_colour(double share);
// Colours for adjacent categories, distinguishable with the common kinds of colour blindness.
Colour category_colour(std::size_t index);
std::string to_hex(Colour colour);

class Raster {
 public:
  Raster(std::size_t width, std::size_t height, Colour paper);
  std::size_t width() const { return width_; }
  std::size_t height() const { return height_; }
  void set(std::size_t x, std::size_t y, Colour colour) { cells_[y * width_ + x] = colour; }
  Colour at(std::size_t x, std::size_t y) const { return cells_[y * width_ + x]; }
  // Repeats each cell, so that no viewer blurs the picture at this size.
  Raster enlarged(double width, double height) const;
  std::string to_png() const;

 private:
  std::size_t width_, height_;
  std::vector<Colour> cells_;
};

}  // namespace weft::report
