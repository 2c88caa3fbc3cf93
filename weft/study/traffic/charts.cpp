// SPDX-License-Identifier: Apache-2.0
// Pictures of a sweep.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <weft/study/traffic/blocks.hpp>
#include <weft/study/traffic/people_units.hpp>
#include <weft/study/traffic/report.hpp>

namespace weft {
namespace {

constexpr double clip_factor = 6;

// In what unit the charts of a block are drawn: cycles and flits with a second scale, or only
// nanoseconds and bytes a second where a cycle or a flit is not the same for all curves.
class Units {
 public:
  explicit Units(const Block& block)
      : first_(*block.curves.front()->scenario),
        cycles_(std::all_of(block.curves.begin(), block.curves.end(), [&](const Curve* curve) {
          return same_units(*curve->scenario, first_);
        })) {}

  double load(const Curve& curve, double load) const {
    return cycles_ ? load : to_gbyte_per_s(*curve.scenario, load);
  }
  double latency(const Curve& curve, double cycles) const {
    return cycles_ ? cycles : to_ns(*curve.scenario, cycles);
  }
  Axis load_axis(const char* what) const {
    if (!cycles_) return {.label = fmt::format("{} (GB/s per node)", what)};
    return {
        .label = fmt::format("{} (flit/node/cycle)", what),
        .second = SecondScale{fmt::format("{} (GB/s per node)", what), to_gbyte_per_s(first_, 1)}};
  }
  Axis latency_axis() const {
    if (!cycles_) return {.label = "mean packet latency (ns)"};
    return {.label = "mean packet latency (cycles)",
            .second = SecondScale{"mean packet latency (ns)", to_ns(first_, 1)}};
  }

 private:
  const Scenario& first_;
  bool cycles_;
};

std::string note(const Curve& curve, const Point& p) {
  const Scenario& s = *curve.scenario;
  std::string text = label_in_block(s);
  for (const auto& [name, value] :
       {std::pair{"load", p.load}, {"offered", p.offered}, {"accepted", p.accepted}})
    text += fmt::format("\n{} {:.5g} flit/node/cycle, {:.4g} GB/s", name, value,
                        to_gbyte_per_s(s, value));
  if (p.claims_latency()) {
    const auto p99 = static_cast<double>(p.packets.latencies_ps.percentile(990));
    text += fmt::format("\nlatency {:.2f} cycles, {:.4g} ns\np99 {:.0f} cycles, {:.4g} ns",
                        p.latency(), to_ns(s, p.latency()), p.cycles(p99), p99 / 1000);
  }
  if (p.state != PointState::steady) text += fmt::format("\n{}", to_text(p.state));
  return text;
}

// The latency of a saturated point is none: it is marked at the upper edge of the frame. A point
// beyond it that is steady by chance says nothing.
Series latency_series(const Curve& curve, const Units& units) {
  Series series{.label = label_in_block(*curve.scenario)};
  bool saturated = false;
  for (const Point& p : curve.points) {
    if (p.measured_cycles == 0 || (saturated && p.state != PointState::saturated)) continue;
    saturated = p.state == PointState::saturated;
    double y = std::numeric_limits<double>::quiet_NaN();
    if (p.claims_latency()) y = units.latency(curve, p.latency());
    if (saturated) y = std::numeric_limits<double>::infinity();
    series.points.push_back(
        {units.load(curve, p.load), y, p.state != PointState::steady, note(curve, p)});
  }
  return series;
}

Series accepted_series(const Curve& curve, const Units& units) {
  Series series{.label = label_in_block(*curve.scenario)};
  for (const Point& p : curve.points)
    if (p.measured_cycles > 0)
      series.points.push_back({units.load(curve, p.load), units.load(curve, p.accepted),
                               p.state != PointState::steady, note(curve, p)});
  return series;
}

// Limits are shown where there is but one curve that they can belong to.
void add_rules(Chart& chart, const Curve& curve, double factor) {
  if (curve.saturation && curve.saturation->load.stable > 0) {
    const double load = curve.saturation->load.stable;
    chart.rules.push_back({.at = load,
                           .vertical = true,
                           .label = fmt::format("saturation {:.4g} = {:.4g} GB/s", load,
                                                to_gbyte_per_s(*curve.scenario, load))});
  }
  chart.rules.push_back(
      {.at = factor * curve.zero.latency_cycles, .label = fmt::format("{:g} x zero load", factor)});
}

bool any_stopped(const Block& block) {
  return std::any_of(block.curves.begin(), block.curves.end(), [](const Curve* curve) {
    return std::any_of(curve->points.begin(), curve->points.end(),
                       [](const Point& p) { return p.state == PointState::stopped; });
  });
}

}  // namespace

std::vector<Chart> sweep_charts(const Sweep& sweep, double factor) {
  std::vector<Chart> charts;
  for (const Block& block : blocks_of(sweep)) {
    const Units units(block);
    double idle = 0;
    for (const Curve* curve : block.curves)
      idle = std::max(idle, units.latency(*curve, curve->zero.latency_cycles));
    Chart latency{.title = "Latency over load",
                  .subtitle = block.text,
                  .x = units.load_axis("offered load"),
                  .y = units.latency_axis(),
                  .hollow_means = "saturated: no steady latency"};
    latency.y.min = 0;
    latency.y.max = clip_factor * idle;
    Chart accepted{.title = "Throughput over load",
                   .subtitle = block.text,
                   .x = latency.x,
                   .y = units.load_axis("accepted"),
                   .hollow_means = any_stopped(block) ? "saturated or stopped" : "saturated"};
    for (const Curve* curve : block.curves) {
      latency.series.push_back(latency_series(*curve, units));
      accepted.series.push_back(accepted_series(*curve, units));
    }
    if (block.curves.size() == 1) add_rules(latency, *block.curves.front(), factor);
    charts.push_back(std::move(latency));
    charts.push_back(std::move(accepted));
  }
  return charts;
}

}  // namespace weft
