// SPDX-License-Identifier: Apache-2.0
// Charts as SVG.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <weft/base/fingerprint.hpp>
#include <weft/output/plot/chart.hpp>
#include <weft/output/plot/labels.hpp>
#include <weft/output/plot/ticks.hpp>

namespace weft {
namespace {

constexpr double width = 800, left = 74, head = 62;
constexpr double frame_height = 360, legend_row = 20, label_row = 15, second_axis = 56;
constexpr std::size_t colours = 8, markers = 7, dashes = 4;

// A light and a dark value of each colour; the first ones are Okabe and Ito's.
constexpr std::string_view style_sheet = R"(
.weft{--ink:#222;--soft:#666;--grid:#e2e2e2;--paper:#fff;
font:13px system-ui,sans-serif;color:var(--ink)}
.weft .c0{--c:#0072B2}.weft .c1{--c:#D55E00}.weft .c2{--c:#009E73}.weft .c3{--c:#CC79A7}
.weft .c4{--c:#E69F00}.weft .c5{--c:#56B4E9}.weft .c6{--c:var(--ink)}.weft .c7{--c:#858585}
@media (prefers-color-scheme:dark){
.weft{--ink:#e8e8e8;--soft:#a8a8a8;--grid:#3a3a3a;--paper:#1b1b1b}
.weft .c0{--c:#3D9BE0}.weft .c2{--c:#20C197}}
.weft .paper{fill:var(--paper)}.weft text{fill:var(--ink)}
.weft .soft{fill:var(--soft);font-size:12px}
.weft .title{font-size:17px;font-weight:600}.weft .grid{stroke:var(--grid)}
.weft .frame{stroke:var(--soft);fill:none}
.weft .rule{stroke:var(--soft);stroke-dasharray:2 4}.weft .own{stroke:var(--c)}
.weft .line{stroke:var(--c);fill:none;stroke-width:2}
.weft .area{fill:var(--c);fill-opacity:.15;stroke:none}
.weft .d1{stroke-dasharray:7 3}.weft .d2{stroke-dasharray:2 3}.weft .d3{stroke-dasharray:9 3 2 3}
.weft .mark{stroke:var(--c);fill:var(--c);stroke-width:1.5}.weft .hollow{fill:var(--paper)}
.weft .any{--c:var(--soft)}
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
  constexpr std::array<std::string_view, colours> values = {
      "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222", "#858585"};
  for (std::size_t i = 0; i < colours; ++i) {
    sheet += fmt::format(
        ".weft .c{0} .line,.weft .c{0} .own{{stroke:{1}}}.weft .c{0} .area{{fill:{1}}}"
        ".weft .c{0} .mark{{stroke:{1};fill:{1}}}\n",
        i, values[i]);
  }
  return sheet + ".weft .any .mark{stroke:#666}.weft .mark.hollow{fill:#fff}\n";
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

// The frame: its two scales in pixels, and the name of its clip path.
struct Plot {
  Scale x, y;
  std::string clip;
};

template <typename Get>
Scale make_scale(const Chart& chart, const Axis& axis, Get get, int wanted) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool beyond = false;
  for (const Series& series : chart.series)
    for (const ChartPoint& point : series.points) {
      const double value = get(point);
      beyond = beyond || value == std::numeric_limits<double>::infinity();
      if (!std::isfinite(value) || (axis.log && value <= 0)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low > high) low = axis.log ? 1 : 0, high = axis.log ? 10 : 1;
  // Axes start at zero unless the values do not allow it.
  if (!axis.log && low > 0) low = 0;
  // Room above the others, so that a line to the edge does not look flat.
  if (beyond) high *= 1.5;
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

// Colours repeat after eight series, markers after seven: 56 combinations.
SeriesStyle style_of(const Chart& chart, std::size_t index) {
  return chart.series[index].style.value_or(SeriesStyle{index, index, index});
}

std::string marker_shape(std::size_t style, double x, double y) {
  switch (style % markers) {
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
      return fmt::format(
          "<path d=\"M{:.1f} {:.1f}l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3l-3 -3z\"/>",
          x - 3, y - 5);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}h3v3h3v3h-3v3h-3v-3h-3v-3h3z\"/>", x - 1.5,
                         y - 4.5);
  }
}

std::string draw_marker(std::size_t style, double x, double y, const ChartPoint& point) {
  std::string tip;
  if (!point.note.empty()) tip = fmt::format("<title>{}</title>", escape_xml(point.note));
  return fmt::format("<g class=\"mark{}\">{}{}</g>\n", point.hollow ? " hollow" : "", tip,
                     marker_shape(style, x, y));
}

std::string class_of(const SeriesStyle& style) {
  return fmt::format("c{}", style.colour % colours);
}

std::string draw_series(const Chart& chart, std::size_t index, const Plot& plot) {
  const auto& [x, y, clip] = plot;
  const SeriesStyle style = style_of(chart, index);
  std::string path, marks;
  bool drawing = false;
  for (const ChartPoint& point : chart.series[index].points) {
    const bool beyond = point.y == std::numeric_limits<double>::infinity();
    if ((!std::isfinite(point.y) && !beyond) || !std::isfinite(point.x)) {
      drawing = false;
      continue;
    }
    // Clamp coordinates far outside the frame: renderers have trouble with them.
    const double px = std::clamp(x(point.x), -1e4, 1e4),
                 py = beyond ? y.to : std::clamp(y(point.y), -1e4, 1e4);
    path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", px, py);
    drawing = !beyond;
    if (x.covers(point.x) && (beyond || y.covers(point.y)))
      marks += draw_marker(style.marker, px, py, point);
  }
  std::string text = fmt::format("<g class=\"{}\">\n", class_of(style));
  if (!path.empty())
    text += fmt::format("<path class=\"line d{}\" clip-path=\"url(#{})\" d=\"{}\"/>\n",
                        style.dash % dashes, clip, path);
  return text + marks + "</g>\n";
}

std::string draw_steps(const Chart& chart, std::size_t index, const Plot& plot) {
  const auto& [x, y, clip] = plot;
  const SeriesStyle style = style_of(chart, index);
  std::string path;
  double first = 0;
  for (const ChartPoint& point : chart.series[index].points) {
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
      "<g class=\"{0}\" clip-path=\"url(#{1})\">\n<path class=\"area\" "
      "d=\"{2}V{3:.1f}H{4:.1f}z\"/>"
      "\n<path class=\"line d{5}\" d=\"{2}\"/>\n</g>\n",
      class_of(style), clip, path, y.from, first, style.dash % dashes);
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

// Rows above the frame hold the labels of vertical lines.
struct VerticalRules {
  std::vector<const Rule*> rules;
  std::vector<PlacedLabel> labels;
  int rows = 0;
};

VerticalRules place_rules(const Chart& chart, const Scale& x) {
  VerticalRules placed;
  std::vector<LineLabel> labels;
  for (const Rule& rule : chart.rules) {
    if (!rule.vertical || !x.covers(rule.at)) continue;
    placed.rules.push_back(&rule);
    labels.push_back({x(rule.at), text_width(rule.label, 12)});
  }
  placed.labels = place_labels(labels, x.from, x.to);
  for (const PlacedLabel& label : placed.labels) placed.rows = std::max(placed.rows, label.row + 1);
  return placed;
}

std::string draw_rule(const std::string& line, double x, double y, const Rule& rule) {
  const std::string path =
      rule.colour ? fmt::format("<g class=\"c{}\"><path class=\"rule own\" d=\"{}\"/></g>\n",
                                *rule.colour % colours, line)
                  : fmt::format("<path class=\"rule\" d=\"{}\"/>\n", line);
  return path + fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y,
                            escape_xml(rule.label));
}

std::string draw_rules(const Chart& chart, const Plot& plot, const VerticalRules& vertical) {
  const auto& [x, y, clip] = plot;
  std::string text;
  for (std::size_t i = 0; i < vertical.rules.size(); ++i) {
    const PlacedLabel& label = vertical.labels[i];
    const double place = x(vertical.rules[i]->at), base = y.to - 4 - label_row * label.row;
    text += draw_rule(fmt::format("M{:.1f} {:.1f}V{:.1f}", place, y.from, base - 10), label.x, base,
                      *vertical.rules[i]);
  }
  std::vector<const Rule*> levels;
  for (const Rule& rule : chart.rules)
    if (!rule.vertical && y.covers(rule.at)) levels.push_back(&rule);
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Rule* a, const Rule* b) { return a->at < b->at; });
  double free = y.from;  // A label that would cover the one below it moves up.
  for (const Rule* rule : levels) {
    const double place = y(rule->at), base = std::min(place - 5, free);
    free = base - label_row;
    text += draw_rule(fmt::format("M{:.1f} {:.1f}H{:.1f}", x.from, place, x.to), x.from + 6, base,
                      *rule);
  }
  return text;
}

// Ticks of a scale in its second unit, with their places in pixels.
struct SecondTick {
  double at = 0;
  std::string text;
};

std::vector<SecondTick> second_ticks(const Scale& scale, double factor, int wanted) {
  const double low = scale.low * factor, high = scale.high * factor;
  const Ticks ticks = scale.log ? log_ticks(low, high) : linear_ticks(low, high, wanted);
  std::vector<SecondTick> list;
  for (const double value : ticks.at)
    if (scale.covers(value / factor)) list.push_back({scale(value / factor), tick_text(value)});
  return list;
}

std::string draw_second(const Chart& chart, const Plot& plot) {
  const auto& [x, y, clip] = plot;
  std::string text;
  if (chart.x.second) {
    const double base = y.from + 58;
    text +=
        fmt::format("<path class=\"frame\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", x.from, base, x.to);
    for (const SecondTick& tick : second_ticks(x, chart.x.second->factor, 8))
      text += fmt::format(
          "<path class=\"frame\" d=\"M{0:.1f} {1:.1f}v4\"/>\n<text class=\"soft\" x=\"{0:.1f}\" "
          "y=\"{2:.1f}\" text-anchor=\"middle\">{3}</text>\n",
          tick.at, base, base + 17, tick.text);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                        (x.from + x.to) / 2, base + 34, escape_xml(chart.x.second->label));
  }
  if (chart.y.second) {
    for (const SecondTick& tick : second_ticks(y, chart.y.second->factor, 6))
      text += fmt::format(
          "<path class=\"frame\" d=\"M{0:.1f} {1:.1f}h4\"/>\n"
          "<text class=\"soft\" x=\"{2:.1f}\" y=\"{3:.1f}\">{4}</text>\n",
          x.to, tick.at, x.to + 8, tick.at + 4, tick.text);
    text += fmt::format(
        "<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        width - 12, (y.from + y.to) / 2, escape_xml(chart.y.second->label));
  }
  return text;
}

bool has_hollow(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(), [](const ChartPoint& point) {
      return point.hollow && !std::isnan(point.y);
    });
  });
}

struct LegendEntry {
  std::string sample, label;
};

std::vector<LegendEntry> legend_of(const Chart& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; chart.series.size() > 1 && i < chart.series.size(); ++i) {
    const SeriesStyle style = style_of(chart, i);
    const std::string mark =
        chart.series[i].steps ? "" : draw_marker(style.marker, 14, 0, ChartPoint{});
    entries.push_back({fmt::format("<g class=\"{}\"><path class=\"line d{}\" d=\"M0 0h28\"/>{}</g>",
                                   class_of(style), style.dash % dashes, mark),
                       chart.series[i].label});
  }
  if (!chart.hollow_means.empty() && has_hollow(chart))
    entries.push_back(
        {"<g class=\"any\">" + draw_marker(0, 14, 0, ChartPoint{.hollow = true}) + "</g>",
         chart.hollow_means});
  return entries;
}

// Entries in columns that are as wide as the widest.
std::size_t legend_columns(const std::vector<LegendEntry>& entries, double room) {
  double widest = 0;
  for (const LegendEntry& entry : entries)
    widest = std::max(widest, 52 + text_width(entry.label, 13));
  return std::clamp<std::size_t>(static_cast<std::size_t>(room / std::max(widest, 1.0)), 1, 3);
}

std::string draw_legend(const std::vector<LegendEntry>& entries, double room, double y) {
  std::string text;
  const std::size_t columns = legend_columns(entries, room);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double lx = left + room / static_cast<double>(columns) * static_cast<double>(i % columns);
    const std::size_t line = i / columns;
    const double ly = y + legend_row * static_cast<double>(line);
    text += fmt::format(
        "<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n<text x=\"{:.1f}\" y=\"{:.1f}\">{}"
        "</text>\n",
        lx, ly, entries[i].sample, lx + 36, ly + 4, escape_xml(entries[i].label));
  }
  return text;
}

// Clip path names must differ between charts of one page, and be the same in every run.
std::string clip_name(const Chart& chart) {
  Fingerprint texts;
  for (const std::string* text : {&chart.title, &chart.subtitle, &chart.y.label}) texts.add(*text);
  return fmt::format("frame-{:08x}", texts.number() >> 32);
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

namespace {

// Title, frame and grid, before anything is drawn over them.
std::string draw_paper(const Chart& chart, const Plot& plot, double height, Paper paper) {
  const auto& [x, y, clip] = plot;
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
  const std::string frame = fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", x.from,
                                        y.to, x.to - x.from, frame_height);
  text += fmt::format("<clipPath id=\"{}\"><rect {}/></clipPath>\n", clip, frame);
  return text + draw_grid(x, y) + fmt::format("<rect class=\"frame\" {}/>\n", frame);
}

std::string draw_axis_labels(const Chart& chart, const Plot& plot) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (plot.x.from + plot.x.to) / 2, plot.y.from + 40, escape_xml(chart.x.label)) +
         fmt::format(
             "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
             (plot.y.from + plot.y.to) / 2, escape_xml(chart.y.label));
}

}  // namespace

std::string to_svg(const Chart& chart, Paper paper) {
  Plot plot{make_scale(
                chart, chart.x, [](const ChartPoint& p) { return p.x; }, 8),
            make_scale(
                chart, chart.y, [](const ChartPoint& p) { return p.y; }, 6),
            clip_name(chart)};
  plot.x.from = left;
  plot.x.to = width - (chart.y.second ? left : 24);
  const VerticalRules vertical = place_rules(chart, plot.x);
  plot.y.to = head + label_row * vertical.rows;
  plot.y.from = plot.y.to + frame_height;
  const double room = plot.x.to - plot.x.from;
  const std::vector<LegendEntry> legend = legend_of(chart);
  const std::size_t columns = legend_columns(legend, room);
  const double under = plot.y.from + 58 + (chart.x.second ? second_axis : 0);
  const std::size_t lines = (legend.size() + columns - 1) / columns;
  const double height = under + legend_row * static_cast<double>(lines);
  std::string text = draw_paper(chart, plot, height, paper) + draw_rules(chart, plot, vertical);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    text += (chart.series[i].steps ? draw_steps : draw_series)(chart, i, plot);
  return text + draw_axis_labels(chart, plot) + draw_second(chart, plot) +
         draw_legend(legend, room, under + 2) + "</svg>\n";
}

}  // namespace weft
