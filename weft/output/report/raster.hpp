// SPDX-License-Identifier: Apache-2.0
// Pictures made of many small cells, as PNG inside of SVG: a rectangle each would be too much.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::report {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};

// Light to dark, even to the eye and to the colour-blind. `share` from 0 to 1.
Colour heat_colour(double share);
// Of categories that stand beside each other; told apart with the common kinds of colour blindness.
Colour category_colour(std::size_t index);
std::string to_hex(Colour colour);

class Raster {
 public:
  Raster(std::size_t width, std::size_t height, Colour paper);
  std::size_t width() const { return width_; }
  std::size_t height() const { return height_; }
  void set(std::size_t x, std::size_t y, Colour colour) { cells_[y * width_ + x] = colour; }
  Colour at(std::size_t x, std::size_t y) const { return cells_[y * width_ + x]; }
  // Each cell as several, so that no drawing program blurs them at this size.
  Raster enlarged(double width, double height) const;
  std::string to_png() const;

 private:
  std::size_t width_, height_;
  std::vector<Colour> cells_;
};

}  // namespace weft::report
