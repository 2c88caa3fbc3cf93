// SPDX-License-Identifier: Apache-2.0
// Pictures of a sweep.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <weft/study/traffic/blocks.hpp>
#include <weft/study/traffic/report.hpp>

namespace weft {
namespace {

constexpr double clip_factor = 6;

std::string note(const Curve& curve, const Point& p) {
  std::string text = fmt::format("{}\nload {:.5g}\noffered {:.5g}\naccepted {:.5g}",
                                 label_in_block(*curve.scenario), p.load, p.offered, p.accepted);
  if (p.claims_latency())
    text += fmt::format("\nlatency {:.2f} cycles\np99 {:.0f} cycles", p.latency(),
                        p.cycles(static_cast<double>(p.packets.latencies_ps.percentile(990))));
  if (p.state != PointState::steady) text += fmt::format("\n{}", to_text(p.state));
  return text;
}

// The latency of a saturated point is none; the line leaves the frame on its way to the first, and
// further ones say nothing.
Series latency_series(const Curve& curve, double frame) {
  Series series{.label = label_in_block(*curve.scenario)};
  for (const Point& p : curve.points) {
    if (p.measured_cycles == 0) continue;
    double y = p.claims_latency() ? p.latency() : std::numeric_limits<double>::quiet_NaN();
    if (p.state == PointState::saturated) y = 10 * frame;
    series.points.push_back({p.load, y, p.state != PointState::steady, note(curve, p)});
    if (y > frame) break;
  }
  return series;
}

Series accepted_series(const Curve& curve) {
  Series series{.label = label_in_block(*curve.scenario)};
  for (const Point& p : curve.points)
    if (p.measured_cycles > 0)
      series.points.push_back({p.load, p.accepted, p.state != PointState::steady, note(curve, p)});
  return series;
}

// Limits are shown where there is but one curve that they can belong to.
void add_rules(Chart& chart, const Curve& curve, double factor) {
  if (curve.saturation && curve.saturation->load.stable > 0)
    chart.rules.push_back(
        {.at = curve.saturation->load.stable,
         .vertical = true,
         .label = fmt::format("saturation {:.4g}", curve.saturation->load.stable)});
  chart.rules.push_back(
      {.at = factor * curve.zero.latency_cycles, .label = fmt::format("{:g} x zero load", factor)});
}

}  // namespace

std::vector<Chart> sweep_charts(const Sweep& sweep, double factor) {
  std::vector<Chart> charts;
  for (const Block& block : blocks_of(sweep)) {
    double idle = 0;
    for (const Curve* curve : block.curves) idle = std::max(idle, curve->zero.latency_cycles);
    const double frame = clip_factor * idle;
    Chart latency{.title = "Latency over load",
                  .subtitle = block.text,
                  .x = {.label = "offered load (flit/node/cycle)"},
                  .y = {.label = "mean packet latency (cycles)", .min = 0, .max = frame}};
    Chart accepted{.title = "Throughput over load",
                   .subtitle = block.text,
                   .x = latency.x,
                   .y = {.label = "accepted (flit/node/cycle)"}};
    for (const Curve* curve : block.curves) {
      latency.series.push_back(latency_series(*curve, frame));
      accepted.series.push_back(accepted_series(*curve));
    }
    if (block.curves.size() == 1) add_rules(latency, *block.curves.front(), factor);
    charts.push_back(std::move(latency));
    charts.push_back(std::move(accepted));
  }
  return charts;
}

}  // namespace weft
