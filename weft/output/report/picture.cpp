// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <weft/output/report/merge_charts.hpp>
#include <weft/output/report/page.hpp>
#include <weft/output/report/picture.hpp>
#include <weft/output/report/picture_parts.hpp>

namespace weft::report {

namespace {

constexpr double width = 960;

// Zero is drawn as paper; the rest uses a logarithmic scale, as pairs differ by orders of
// magnitude.
std::string draw_matrix(const RunView& view) {
  const Matrix& matrix = *view.matrix;
  Sheet sheet(width, "Traffic matrix", view.name + ": bytes, logarithmic scale");
  const std::uint32_t rows = (matrix.ranks + matrix.bin - 1) / matrix.bin;
  const std::uint32_t side = std::clamp<std::uint32_t>(rows, 1, 1024);
  std::vector<double> sums(std::size_t{side} * side, 0);
  const auto cell = [&](std::uint32_t row) { return std::size_t{row} * side / rows; };
  for (std::size_t i = 0; i < matrix.from.size(); ++i)
    sums[cell(matrix.from[i]) * side + cell(matrix.to[i])] += matrix.bytes[i];
  double most = 1;
  for (const double sum : sums) most = std::max(most, sum);
  Raster raster(side, side, {255, 255, 255});
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const double sum = sums[y * side + x];
      if (sum > 0) raster.set(x, y, heat_colour(std::log1p(sum) / std::log1p(most)));
    }
  }
  const Box box{90, Sheet::head + 20, 720, 720};
  sheet.image(box, raster);
  sheet.x_axis(box, 0, matrix.ranks, "1", "to rank");
  sheet.y_axis(box, 0, matrix.ranks, "1", "from rank");
  sheet.text(box.x, box.y + box.height + 62, "Largest cell: " + pretty(most, "B"));
  return sheet.finish(box.y + box.height + 80);
}

std::string class_of(const std::string& call) {
  const auto has = [&](const char* part) { return call.find(part) != std::string::npos; };
  if (has("Wait") || has("Test") || has("Probe")) return "waiting for requests";
  if (has("Win_") || has("_Put") || has("_Get_acc") || has("Accumulate") || call == "MPI_Get" ||
      call == "MPI_Rget") {
    return "one-sided";
  }
  if (has("send") || has("Send") || has("recv") || has("Recv") || has("Start"))
    return "point to point";
  for (const char* part : {"Barrier", "bcast", "Bcast", "educe", "ather", "catter", "lltoall",
                           "scan", "Scan", "barrier"}) {
    if (has(part)) return "collective";
  }
  // Ranks wait there for those that end later.
  if (call.ends_with("_Finalize")) return "finalize";
  return "other calls";
}

// Each cell gets the call that takes most of its time, rank by rank.
Raster timeline_raster(const Timeline& timeline, std::int64_t end,
                       const std::vector<Colour>& colour_of) {
  const std::uint32_t ranks = timeline.ranks();
  const std::size_t columns = 860, rows = std::clamp<std::size_t>(ranks, 1, 1024);
  Raster raster(columns, rows, {240, 240, 240});
  std::vector<std::int64_t> best(columns);
  for (std::size_t y = 0; y < rows; ++y) {
    std::fill(best.begin(), best.end(), 0);
    const auto rank = static_cast<std::uint32_t>(y * ranks / rows);
    for (const CallSpan& span : timeline.of(rank)) {
      const auto column = [&](std::int64_t at) {
        return std::min(
            static_cast<std::size_t>(static_cast<double>(at) / static_cast<double>(end) * columns),
            columns - 1);
      };
      for (std::size_t x = column(span.begin_ps); x <= column(span.end_ps - 1); ++x) {
        if (span.end_ps - span.begin_ps <= best[x]) continue;
        best[x] = span.end_ps - span.begin_ps;
        raster.set(x, y, colour_of[span.call]);
      }
    }
  }
  return raster;
}

std::string draw_timeline(const RunView& view) {
  const Timeline& timeline = *view.timeline;
  std::int64_t end = 1;
  for (const CallSpan& span : timeline.spans) end = std::max(end, span.end_ps);
  Sheet sheet(width, "Calls over time", view.name);
  std::map<std::string, Colour> classes;
  std::vector<Colour> colour_of;
  for (const std::string& call : timeline.calls) {
    const auto [known, fresh] = classes.emplace(class_of(call), Colour{});
    if (fresh) known->second = category_colour(classes.size() - 1);
    colour_of.push_back(known->second);
  }
  const double height = std::clamp(static_cast<double>(timeline.ranks()) * 12, 120.0, 640.0);
  const Box box{76, Sheet::head + 20, width - 100, height};
  sheet.image(box, timeline_raster(timeline, end, colour_of));
  sheet.x_axis(box, 0, static_cast<double>(end), "ps", "time");
  sheet.y_axis(box, 0, timeline.ranks(), "1", "rank");
  double x = box.x;
  const double y = box.y + box.height + 58;
  for (const auto& [name, colour] : classes) {
    sheet.rectangle({x, y - 11, 14, 14}, colour);
    sheet.text(x + 20, y, name);
    x += 36 + 8.0 * static_cast<double>(name.size());
  }
  sheet.rectangle({x, y - 11, 14, 14}, {240, 240, 240});
  sheet.text(x + 20, y, "the program's own work");
  return sheet.finish(y + 24);
}

// Axes use units that are easy to read.
std::string draw_chart(const ChartView& view, const std::string& runs) {
  Chart chart = view.chart;
  chart.subtitle = runs;
  const auto name_unit = [](std::string& label, const AxisUnit& unit) {
    if (!unit.name.empty()) label += " (" + unit.name + ")";
  };
  const auto rescale = [&](Axis& axis, const Unit& unit, const Unit& second,
                           double ChartPoint::*value) {
    const bool x = &axis == &chart.x;
    double most = 0;
    for (const Series& series : chart.series)
      for (const ChartPoint& point : series.points)
        if (std::isfinite(point.*value)) most = std::max(most, std::abs(point.*value));
    const AxisUnit wanted = axis_unit(most, unit);
    name_unit(axis.label, wanted);
    for (Series& series : chart.series)
      for (ChartPoint& point : series.points) point.*value /= wanted.size;
    for (Rule& rule : chart.rules)
      if (rule.vertical == x) rule.at /= wanted.size;
    if (axis.min) *axis.min /= wanted.size;
    if (axis.max) *axis.max /= wanted.size;
    if (!axis.second) return;
    const AxisUnit other = axis_unit(most * axis.second->factor, second);
    name_unit(axis.second->label, other);
    axis.second->factor *= wanted.size / other.size;
  };
  rescale(chart.x, view.x_unit, view.x_second_unit, &ChartPoint::x);
  rescale(chart.y, view.y_unit, view.y_second_unit, &ChartPoint::y);
  return to_svg(chart, Paper::print);
}

}  // namespace

AxisUnit axis_unit(double most, const Unit& unit) {
  if (unit == "share") return {"%", 0.01};
  if (unit == "cycles") return {"cycles", 1};
  if (unit.empty() || unit == "1") return {"", 1};
  const std::string text = pretty(most, unit);  // "12.3 us"
  const std::string name = text.substr(text.find(' ') + 1);
  const double shown = std::strtod(text.c_str(), nullptr);
  if (shown == 0) return {unit, 1};
  return {name, std::pow(10, std::round(std::log10(most / shown)))};
}

std::vector<PictureName> pictures_of(const RunView& view) {
  std::vector<PictureName> names;
  if (view.heat) {
    names.push_back({"link-heat", "Links, by router"});
    names.push_back({"buffer-heat", "Buffers, by router"});
  }
  if (view.network && !view.heat) names.push_back({"network", "The network"});
  if (view.timeline) names.push_back({"timeline", "Calls over time"});
  if (view.matrix) names.push_back({"matrix", "Traffic matrix"});
  if (view.placement && view.network) names.push_back({"placement", "Placement before and after"});
  for (const ChartView& chart : view.charts) names.push_back({chart.id, chart.chart.title});
  return names;
}

Result<std::string> draw(const RunView& view, const PictureRequest& request) {
  const std::vector<PictureName> names = pictures_of(view);
  const bool known = std::any_of(names.begin(), names.end(),
                                 [&](const PictureName& name) { return name.id == request.id; });
  if (!known) {
    std::string list;
    for (const PictureName& name : names) list += (list.empty() ? "" : ", ") + name.id;
    return Error::call(
        fmt::format("{} has no picture '{}'; it has {}", view.name, request.id,
                    list.empty() ? "none; records of weft sim --record DIR have" : list));
  }
  if (request.id == "link-heat" || request.id == "buffer-heat" || request.id == "network")
    return draw_network(view, request);
  if (request.id == "placement") return draw_placement(view);
  if (request.id == "timeline") return draw_timeline(view);
  if (request.id == "matrix") return draw_matrix(view);
  for (const ChartView& chart : view.charts) {
    if (chart.id == request.id) return draw_chart(chart, view.name);
  }
  return Error::call("no such picture: " + request.id);
}

Result<std::string> draw(std::span<const RunView> views, const PictureRequest& request) {
  if (views.size() == 1) return draw(views.front(), request);
  if (const auto chart = merge_charts(views, request.id))
    return draw_chart(*chart, page_title(views));
  std::vector<std::string> names;
  for (const RunView& view : views)
    for (const ChartView& chart : view.charts)
      if (std::find(names.begin(), names.end(), chart.id) == names.end()) names.push_back(chart.id);
  const bool drawn = std::any_of(views.begin(), views.end(), [&](const RunView& view) {
    const auto pictures = pictures_of(view);
    return std::any_of(pictures.begin(), pictures.end(),
                       [&](const PictureName& name) { return name.id == request.id; });
  });
  return Error::call(fmt::format(
      "{}; {}",
      drawn ? "'" + request.id + "' shows one run: give one"
            : "no run has a picture '" + request.id + "'",
      names.empty() ? "these runs have no charts, see --list"
                    : fmt::format("of several runs there are {}", fmt::join(names, ", "))));
}

}  // namespace weft::report
