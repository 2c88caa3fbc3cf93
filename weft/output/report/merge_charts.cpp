// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/output/report/merge_charts.hpp>

namespace weft::report {

namespace {

struct Origin {
  std::size_t run = 0;
  ChartView view;
};

// One of the two axes of a chart, with its units.
struct AxisPart {
  Axis Chart::*axis;
  Unit ChartView::*unit;
  Unit ChartView::*second;
  double ChartPoint::*value;
  bool vertical;  // Rules that stand on this axis.
};
constexpr AxisPart parts[] = {
    {&Chart::x, &ChartView::x_unit, &ChartView::x_second_unit, &ChartPoint::x, true},
    {&Chart::y, &ChartView::y_unit, &ChartView::y_second_unit, &ChartPoint::y, false}};

void use_second_unit(ChartView& view, const AxisPart& part) {
  Axis& axis = view.chart.*part.axis;
  if (!axis.second) return;
  const double factor = axis.second->factor;
  for (Series& series : view.chart.series)
    for (ChartPoint& point : series.points) point.*part.value *= factor;
  for (Rule& rule : view.chart.rules)
    if (rule.vertical == part.vertical) rule.at *= factor;
  for (std::optional<double>* limit : {&axis.min, &axis.max})
    if (*limit) **limit *= factor;
  axis.label = axis.second->label;
  axis.second.reset();
  view.*part.unit = view.*part.second;
}

// Charts whose second scales differ have only that unit in common.
void use_one_unit(std::vector<Origin>& origins) {
  for (const AxisPart& part : parts) {
    const auto factor = [&](const Origin& origin) {
      const auto& second = (origin.view.chart.*part.axis).second;
      return second ? second->factor : 0.0;
    };
    const bool same = std::all_of(origins.begin(), origins.end(), [&](const Origin& origin) {
      return factor(origin) == factor(origins.front());
    });
    if (same) continue;
    for (Origin& origin : origins) use_second_unit(origin.view, part);
  }
}

void add_series(Chart& into, const Origin& origin, const std::string& run,
                std::vector<std::string>& names) {
  for (const Series& series : origin.view.chart.series) {
    auto known = std::find(names.begin(), names.end(), series.label);
    if (known == names.end()) known = names.insert(names.end(), series.label);
    const auto place = static_cast<std::size_t>(known - names.begin());
    Series& added = into.series.emplace_back(series);
    added.label = run + ": " + series.label;
    added.style = SeriesStyle{origin.run, place, place};
  }
}

// Lines at one place become one, which names its runs unless it is of all of them.
void add_rules(Chart& into, const std::vector<Origin>& origins, std::span<const RunView> views) {
  struct Place {
    Rule rule;
    std::vector<std::size_t> runs;
  };
  std::vector<Place> places;
  for (const Origin& origin : origins)
    for (const Rule& rule : origin.view.chart.rules) {
      auto known = std::find_if(places.begin(), places.end(), [&](const Place& place) {
        return place.rule.at == rule.at && place.rule.vertical == rule.vertical &&
               place.rule.label == rule.label;
      });
      if (known == places.end()) known = places.insert(places.end(), {rule, {}});
      known->runs.push_back(origin.run);
    }
  for (Place& place : places) {
    std::string names;
    for (const std::size_t run : place.runs) names += (names.empty() ? "" : ", ") + views[run].name;
    if (place.runs.size() == 1) place.rule.colour = place.runs.front();
    if (origins.size() < 2 || place.runs.size() < origins.size())
      place.rule.label = names + ": " + place.rule.label;
    into.rules.push_back(std::move(place.rule));
  }
}

}  // namespace

std::optional<ChartView> merge_charts(std::span<const RunView> views, const std::string& id) {
  std::vector<Origin> origins;
  for (std::size_t run = 0; run < views.size(); ++run)
    for (const ChartView& chart : views[run].charts)
      if (chart.id == id) origins.push_back({run, chart});
  if (origins.empty()) return std::nullopt;
  use_one_unit(origins);
  ChartView merged = origins.front().view;
  merged.chart.series.clear();
  merged.chart.rules.clear();
  std::vector<std::string> names;
  for (const Origin& origin : origins)
    add_series(merged.chart, origin, views[origin.run].name, names);
  add_rules(merged.chart, origins, views);
  return merged;
}

}  // namespace weft::report
