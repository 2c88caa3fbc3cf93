// SPDX-License-Identifier: Apache-2.0
// Charts as SVG.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <weft/output/plot/chart.hpp>
#include <weft/output/plot/ticks.hpp>

namespace weft {
namespace {

constexpr double width = 800, left = 74, right = 24, top = 62, bottom = 58;
constexpr double frame_height = 360, legend_row = 20;
constexpr std::size_t styles = 7, dashes = 4, legend_columns = 3;

// A light and a dark value of each colour; the first ones are Okabe and Ito's.
constexpr std::string_view style_sheet = R"(
.weft{--ink:#222;--soft:#666;--grid:#e2e2e2;--paper:#fff;
font:13px system-ui,sans-serif;color:var(--ink)}
.weft .c0{--c:#0072B2}.weft .c1{--c:#D55E00}.weft .c2{--c:#009E73}.weft .c3{--c:#CC79A7}
.weft .c4{--c:#E69F00}.weft .c5{--c:#56B4E9}.weft .c6{--c:var(--ink)}
@media (prefers-color-scheme:dark){
.weft{--ink:#e8e8e8;--soft:#a8a8a8;--grid:#3a3a3a;--paper:#1b1b1b}
.weft .c0{--c:#3D9BE0}.weft .c2{--c:#20C197}}
.weft .paper{fill:var(--paper)}.weft text{fill:var(--ink)}
.weft .soft{fill:var(--soft);font-size:12px}
.weft .title{font-size:17px;font-weight:600}.weft .grid{stroke:var(--grid)}
.weft .frame{stroke:var(--soft);fill:none}
.weft .rule{stroke:var(--soft);stroke-dasharray:2 4}
.weft .line{stroke:var(--c);fill:none;stroke-width:2}
.weft .area{fill:var(--c);fill-opacity:.15;stroke:none}
.weft .d1{stroke-dasharray:7 3}.weft .d2{stroke-dasharray:2 3}.weft .d3{stroke-dasharray:9 3 2 3}
.weft .mark{stroke:var(--c);fill:var(--c);stroke-width:1.5}.weft .hollow{fill:var(--paper)}
)";

// The same without CSS variables, which few tools support.
std::string print_sheet() {
  std::string sheet = R"(
.weft{font:13px system-ui,sans-serif}
.weft .paper{fill:#fff}.weft text{fill:#222}
.weft .soft{fill:#666;font-size:12px}
.weft .title{font-size:17px;font-weight:600}.weft .grid{stroke:#e2e2e2}
.weft .frame{stroke:#666;fill:none}
.weft .rule{stroke:#666;stroke-dasharray:2 4}
.weft .line{fill:none;stroke-width:2}.weft .area{fill-opacity:.15;stroke:none}
.weft .d1{stroke-dasharray:7 3}.weft .d2{stroke-dasharray:2 3}.weft .d3{stroke-dasharray:9 3 2 3}
.weft .mark{stroke-width:1.5}
)";
  constexpr std::array<std::string_view, styles> colours = {
      "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222"};
  for (std::size_t i = 0; i < styles; ++i) {
    sheet += fmt::format(
        ".weft .c{0} .line{{stroke:{1}}}.weft .c{0} .area{{fill:{1}}}"
        ".weft .c{0} .mark{{stroke:{1};fill:{1}}}\n",
        i, colours[i]);
  }
  return sheet + ".weft .mark.hollow{fill:#fff}\n";
}

struct Scale {
  Ticks ticks;
  bool log = false;
  double low = 0, high = 1;  // Data range.
  double from = 0, to = 1;   // Pixel range.

  double operator()(double value) const {
    if (log && value <= 0) return from;
    const double share =
        log ? binary_log(value / low) / binary_log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
  bool covers(double value) const { return value >= low && value <= high; }
};

template <typename Get>
Scale make_scale(const Chart& chart, const Axis& axis, Get get, int wanted) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& series : chart.series)
    for (const ChartPoint& point : series.points) {
      const double value = get(point);
      if (!std::isfinite(value) || (axis.log && value <= 0)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low > high) low = axis.log ? 1 : 0, high = axis.log ? 10 : 1;
  // Axes start at zero unless the values do not allow it.
  if (!axis.log && low > 0) low = 0;
  if (axis.min) low = *axis.min;
  if (axis.max) high = *axis.max;
  if (high < low) high = low;
  Scale scale;
  scale.log = axis.log;
  scale.ticks = axis.log ? log_ticks(low, high) : linear_ticks(low, high, wanted);
  scale.low = scale.ticks.first;
  scale.high = scale.ticks.last;
  return scale;
}

// Colour and marker repeat after seven series, dashes after four: 28 combinations.
constexpr std::size_t dash_of(std::size_t index) {
  return index % dashes;
}

std::string marker_shape(std::size_t style, double x, double y) {
  switch (style % styles) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", x, y);
    case 1:
      return fmt::format("<path d=\"M{:.1f} {:.1f}h7v7h-7z\"/>", x - 3.5, y - 3.5);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4.5 8h-9z\"/>", x, y - 5);
    case 3:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l5 5l-5 5l-5 -5z\"/>", x, y - 5);
    case 4:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4.5 -8h-9z\"/>", x, y + 5);
    case 5:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l8 8m0 -8l-8 8\"/>", x - 4, y - 4);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}h10m-5 -5v10\"/>", x - 5, y);
  }
}

std::string draw_marker(std::size_t style, double x, double y, const ChartPoint& point) {
  std::string tip;
  if (!point.note.empty()) tip = fmt::format("<title>{}</title>", escape_xml(point.note));
  return fmt::format("<g class=\"mark{}\">{}{}</g>\n", point.hollow ? " hollow" : "", tip,
                     marker_shape(style, x, y));
}

std::string draw_series(const Series& series, std::size_t index, const Scale& x, const Scale& y,
                        const std::string& clip) {
  std::string path, marks;
  bool drawing = false;
  for (const ChartPoint& point : series.points) {
    if (!std::isfinite(point.y) || !std::isfinite(point.x)) {
      drawing = false;
      continue;
    }
    // Clamp coordinates far outside the frame: renderers have trouble with them.
    const double px = std::clamp(x(point.x), -1e4, 1e4), py = std::clamp(y(point.y), -1e4, 1e4);
    path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", px, py);
    drawing = true;
    if (x.covers(point.x) && y.covers(point.y)) marks += draw_marker(index, px, py, point);
  }
  std::string text = fmt::format("<g class=\"c{}\">\n", index % styles);
  if (!path.empty())
    text += fmt::format("<path class=\"line d{}\" clip-path=\"url(#{})\" d=\"{}\"/>\n",
                        dash_of(index), clip, path);
  return text + marks + "</g>\n";
}

std::string draw_steps(const Series& series, std::size_t index, const Scale& x, const Scale& y,
                       const std::string& clip) {
  std::string path;
  double first = 0;
  for (const ChartPoint& point : series.points) {
    if (!std::isfinite(point.y) || !std::isfinite(point.x)) continue;
    const double px = std::clamp(x(point.x), -1e4, 1e4), py = std::clamp(y(point.y), -1e4, 1e4);
    if (path.empty()) {
      first = px;
      path = fmt::format("M{:.1f} {:.1f}", px, y.from);
    }
    path += fmt::format("H{:.1f}V{:.1f}", px, py);
  }
  if (path.empty()) return "";
  return fmt::format(
      "<g class=\"c{0}\" clip-path=\"url(#{1})\">\n<path class=\"area\" "
      "d=\"{2}V{3:.1f}H{4:.1f}z\"/>"
      "\n<path class=\"line d{5}\" d=\"{2}\"/>\n</g>\n",
      index % styles, clip, path, y.from, first, dash_of(index));
}

std::string draw_grid(const Scale& x, const Scale& y) {
  std::string text = "<g class=\"grid\">\n";
  for (const double at : x.ticks.at)
    text += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x(at), y.from, y.to);
  for (const double at : y.ticks.at)
    text += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", x.from, y(at), x.to);
  text += "</g>\n<g class=\"soft\">\n";
  for (const double at : x.ticks.at)
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(at),
                        y.from + 18, tick_text(at));
  for (const double at : y.ticks.at)
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                        x.from - 8, y(at) + 4, tick_text(at));
  return text + "</g>\n";
}

std::string draw_rules(const Chart& chart, const Scale& x, const Scale& y) {
  std::string text;
  for (const Rule& rule : chart.rules) {
    if (!(rule.vertical ? x : y).covers(rule.at)) continue;
    const double place = rule.vertical ? x(rule.at) : y(rule.at);
    const std::string line = rule.vertical
                                 ? fmt::format("M{:.1f} {:.1f}V{:.1f}", place, y.from, y.to)
                                 : fmt::format("M{:.1f} {:.1f}H{:.1f}", x.from, place, x.to);
    const double tx = rule.vertical ? place + 4 : x.from + 6;
    const double ty = rule.vertical ? y.to + 14 : place - 5;
    text += fmt::format(
        "<path class=\"rule\" d=\"{}\"/>\n<text class=\"soft\" x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text>\n",
        line, tx, ty, escape_xml(rule.label));
  }
  return text;
}

std::string draw_legend(const Chart& chart, double y) {
  std::string text;
  const double column = (width - left - right) / legend_columns;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const double lx = left + column * static_cast<double>(i % legend_columns);
    const std::size_t line = i / legend_columns;
    const double ly = y + legend_row * static_cast<double>(line);
    text += fmt::format(
        "<g class=\"c{}\"><path class=\"line d{}\" d=\"M{:.1f} {:.1f}h28\"/>{}</g>\n", i % styles,
        dash_of(i), lx, ly, chart.series[i].steps ? "" : draw_marker(i, lx + 14, ly, ChartPoint{}));
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", lx + 36, ly + 4,
                        escape_xml(chart.series[i].label));
  }
  return text;
}

// Clip path names must differ between charts of one page, and be the same in every run.
std::string clip_name(const Chart& chart) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::string* text : {&chart.title, &chart.subtitle, &chart.y.label})
    for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("frame-{:08x}", hash >> 32);
}

}  // namespace

std::string escape_xml(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') safe += c;
    }
  }
  return safe;
}

std::string to_svg(const Chart& chart, Paper paper) {
  Scale x = make_scale(
      chart, chart.x, [](const ChartPoint& p) { return p.x; }, 8);
  Scale y = make_scale(
      chart, chart.y, [](const ChartPoint& p) { return p.y; }, 6);
  x.from = left;
  x.to = width - right;
  y.from = top + frame_height;
  y.to = top;
  const bool legend = chart.series.size() > 1;
  const std::size_t rows = legend ? (chart.series.size() + legend_columns - 1) / legend_columns : 0;
  const double height = top + frame_height + bottom + legend_row * static_cast<double>(rows);
  const std::string clip = clip_name(chart);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"weft\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" height=\"{1}\" role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
      width, height, escape_xml(chart.title),
      paper == Paper::print ? print_sheet() : std::string(style_sheet));
  text += fmt::format(
      "<text class=\"title\" x=\"{0}\" y=\"26\">{1}</text>\n"
      "<text class=\"soft\" x=\"{0}\" y=\"46\">{2}</text>\n",
      left, escape_xml(chart.title), escape_xml(chart.subtitle));
  text += fmt::format(
      "<clipPath id=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n", clip,
      left, top, width - left - right, frame_height);
  text += draw_grid(x, y) + draw_rules(chart, x, y);
  text += fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                      left, top, width - left - right, frame_height);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    text += (chart.series[i].steps ? draw_steps : draw_series)(chart.series[i], i, x, y, clip);
  text +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                  (left + width - right) / 2, top + frame_height + 40, escape_xml(chart.x.label));
  text += fmt::format(
      "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      top + frame_height / 2, escape_xml(chart.y.label));
  if (legend) text += draw_legend(chart, top + frame_height + bottom + 2);
  return text + "</svg>\n";
}

}  // namespace weft
