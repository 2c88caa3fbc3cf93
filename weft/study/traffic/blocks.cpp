// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/blocks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <weft/network/route/policy.hpp>

namespace weft {
namespace {

using Curves = std::vector<const Curve*>;

// The combination that makes the block, then what else its curves share.
std::string shared_text(const Curves& curves) {
  const Scenario& first = *curves.front()->scenario;
  std::vector<std::string> parts;
  std::string chosen;
  if (first.compared && !first.compared->combination.empty()) {
    parts.push_back(first.compared->combination);
    chosen = ", " + parts.front();
  }
  const auto add = [&](const char* key, const std::string& text, auto same) {
    if (chosen.find(fmt::format(", {}=", key)) == std::string::npos &&
        std::all_of(curves.begin(), curves.end(),
                    [&](const Curve* c) { return same(*c->scenario); }))
      parts.push_back(text);
  };
  add("net", first.topology->name,
      [&](const Scenario& s) { return s.topology->name == first.topology->name; });
  add("routing", first.routing, [&](const Scenario& s) { return s.routing == first.routing; });
  add("vcs", fmt::format("{} VC{}", first.hardware.vcs, first.hardware.vcs == 1 ? "" : "s"),
      [&](const Scenario& s) { return s.hardware.vcs == first.hardware.vcs; });
  add("packet", first.packet + " flits",
      [&](const Scenario& s) { return s.packet == first.packet; });
  add("pattern", first.traffic + " traffic",
      [&](const Scenario& s) { return s.traffic == first.traffic; });
  return fmt::format("{}", fmt::join(parts, ", "));
}

void read_search(ComparedRow& row) {
  const Saturation& found = *row.curve->saturation;
  if (found.load.stable > 0) row.saturation = found.load.stable;
  row.reached = found.load.unstable > 0;
  row.peak_accepted = found.peak_accepted;
}

void read_list(ComparedRow& row) {
  row.reached = false;
  for (const Point& p : row.curve->points) {
    if (p.state == PointState::stopped) continue;
    row.peak_accepted = std::max(row.peak_accepted, p.accepted);
    if (p.state == PointState::saturated) row.reached = true;
    if (!row.reached) row.saturation = p.load;
  }
}

const Point* carried_at(const ComparedRow& row, double load) {
  if (!row.saturation || load > *row.saturation) return nullptr;
  for (const Point& p : row.curve->points)
    if (p.load == load && p.claims_latency()) return &p;
  return nullptr;
}

std::optional<double> find_common_load(const std::vector<ComparedRow>& rows) {
  std::optional<double> common;
  for (const Point& p : rows.front().curve->points)
    if (std::all_of(rows.begin(), rows.end(),
                    [&](const ComparedRow& row) { return carried_at(row, p.load) != nullptr; }))
      common = p.load;
  return common;
}

std::size_t find_reference(const std::vector<ComparedRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Scenario& scenario = *rows[i].curve->scenario;
    if (scenario.routing == default_routing(*scenario.topology) &&
        scenario.compared->basis == "own")
      return i;
  }
  return 0;
}

Comparison compare_block(const Block& block, bool searched) {
  Comparison out{.text = block.text, .rows = {}, .common_load = {}, .searched = searched};
  for (const Curve* curve : block.curves) {
    ComparedRow& row = out.rows.emplace_back();
    row.curve = curve;
    // An interrupted search says nothing about its curve.
    if (!searched)
      read_list(row);
    else if (curve->saturation)
      read_search(row);
  }
  out.reference = find_reference(out.rows);
  out.common_load = find_common_load(out.rows);
  const ComparedRow& reference = out.rows[out.reference];
  for (ComparedRow& row : out.rows) {
    // Two lower bounds have no ratio.
    const bool comparable = row.reached || reference.reached || &row == &reference;
    if (row.saturation && reference.saturation && comparable)
      row.ratio = *row.saturation / *reference.saturation;
    if (out.common_load) row.latency = carried_at(row, *out.common_load)->latency();
    if (const Point* p = row.saturation ? carried_at(row, *row.saturation) : nullptr)
      row.news_share_mean = p->news_share_mean;
  }
  return out;
}

}  // namespace

std::vector<Block> blocks_of(const Sweep& sweep) {
  std::vector<Block> blocks;
  const auto number = [](const Curve* curve) {
    return curve->scenario->compared ? curve->scenario->compared->block : 0;
  };
  for (const Curve& curve : sweep.curves) {
    if (blocks.empty() || number(blocks.back().curves.front()) != number(&curve))
      blocks.emplace_back();
    blocks.back().curves.push_back(&curve);
  }
  for (Block& block : blocks) block.text = shared_text(block.curves);
  return blocks;
}

const std::string& label_in_block(const Scenario& scenario) {
  return scenario.compared ? scenario.compared->label : scenario.label;
}

double buffer_flits(const Scenario& scenario) {
  return static_cast<double>(scenario.hardware.buffer_size().count) /
         static_cast<double>(scenario.hardware.flit.count);
}

std::vector<Comparison> compare_curves(const Sweep& sweep) {
  std::vector<Comparison> comparisons;
  if (sweep.curves.empty() || !sweep.curves.front().scenario->compared) return comparisons;
  const bool searched = std::any_of(sweep.curves.begin(), sweep.curves.end(),
                                    [](const Curve& c) { return c.saturation.has_value(); });
  for (const Block& block : blocks_of(sweep)) comparisons.push_back(compare_block(block, searched));
  return comparisons;
}

}  // namespace weft
