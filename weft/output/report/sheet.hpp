// SPDX-License-Identifier: Apache-2.0
// A picture under construction: SVG with a title, texts, lines and images.
#pragma once

#include <string>

#include <weft/output/report/raster.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

struct Spot {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

class Sheet {
 public:
  Sheet(double width, const std::string& title, const std::string& subtitle);

  static constexpr double margin = 24, head = 70;

  enum class Anchor { start, middle, end };
  void text(double x, double y, const std::string& words, Anchor anchor = Anchor::start);
  void image(const Box& box, const Raster& raster);
  void frame(const Box& box);
  void rectangle(const Box& box, Colour fill);
  void line(Spot from, Spot to, Colour colour, double width);
  // Small text that stays readable over lines; x is its left end.
  void name(double x, double y, const std::string& words);
  void tile(const Box& box, Colour fill, const std::string& tip);
  void dot(double x, double y, double radius, Colour fill, const std::string& tip);
  // Ticks and label along the lower or left side of a box.
  void x_axis(const Box& box, double low, double high, const Unit& unit, const std::string& label);
  void y_axis(const Box& box, double low, double high, const Unit& unit, const std::string& label);
  struct Range {
    double end = 1;   // The share that has the last colour.
    double most = 1;  // The largest share in the picture.
  };
  // Draws the colours of shares with their meaning; returns its height.
  double legend(double y, const Range& range, const std::string& meaning);

  std::string finish(double height) const;

 private:
  double width_;
  std::string body_;
};

}  // namespace weft::report
