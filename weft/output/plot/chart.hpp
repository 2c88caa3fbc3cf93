// SPDX-License-Identifier: Apache-2.0
// Line charts and histograms as data, drawn to SVG or to one self-contained HTML page.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

struct ChartPoint {
  double x = 0;
  // NaN: no marker, and a gap in the line. Infinity: the line ends at the upper edge of the frame,
  // and the marker stands there.
  double y = 0;
  bool hollow = false;  // Marks a point of lesser confidence.
  std::string note{};   // Shown while the pointer rests on it.
};

// Numbers of a colour, a pattern of dashes and a shape of marker; each list repeats.
struct SeriesStyle {
  std::size_t colour = 0, dash = 0, marker = 0;
};

struct Series {
  std::string label{};
  std::vector<ChartPoint> points{};
  // The outline of a histogram: y holds from its x to the next point's, without markers.
  bool steps = false;
  std::optional<SeriesStyle> style{};  // Absent: by its place in the chart.
};

// The same axis in another unit, whose value is that of the axis times `factor`.
struct SecondScale {
  std::string label{};
  double factor = 1;
};

struct Axis {
  std::string label{};
  bool log = false;
  std::optional<double> min{}, max{};   // Values beyond are clipped. Absent: taken from the points.
  std::optional<SecondScale> second{};  // Below the axis of x, to the right of the frame for y.
};

// A horizontal or vertical line across the chart, such as a limit.
struct Rule {
  double at = 0;
  bool vertical = false;
  std::string label{};
  std::optional<std::size_t> colour{};  // As in SeriesStyle; absent: grey.
};

struct Chart {
  std::string title{};
  std::string subtitle{};
  Axis x{}, y{};
  std::vector<Series> series{};
  std::vector<Rule> rules{};
  std::string hollow_means{};  // Explains hollow markers, where there are any.
};

enum class Paper {
  screen,  // Follows the reader's light or dark setting; for browsers.
  print,   // White, and in the subset of SVG that every tool understands.
};
// A complete SVG document; well-formed whatever the texts contain.
std::string to_svg(const Chart& chart, Paper paper = Paper::screen);
// A page with the charts one below the other and `remark` below them in small type.
std::string to_html(const std::string& title, std::span<const Chart> charts,
                    const std::string& remark);

// A page made of parts, each of them well-formed markup: charts, tables, headings. The tooltips of
// elements of class "mark" or "cell" are shown at once.
std::string make_page(const std::string& title, std::span<const std::string> parts,
                      const std::string& remark);

// Text for XML: the five special characters are replaced, control characters dropped.
std::string escape_xml(const std::string& text);

}  // namespace weft
