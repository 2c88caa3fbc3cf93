// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/report.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/study/traffic/test_scenario.hpp>

namespace weft {
namespace {

class Report : public testing::Test {
 protected:
  Report() : scenarios_{test_scenario({"net=mesh:4x4", "packet=1:0.5,8:0.5"})} {
    scenarios_[0].label = "with \"quotes\", and a comma";
    SweepSettings settings;
    settings.phases.warmup_cycles = 1000;
    settings.phases.measure_cycles = 4000;
    sweep_ = run_sweep(scenarios_, *parse_loads("0.1,0.9"), settings, {});
  }
  std::vector<Scenario> scenarios_;
  Sweep sweep_;
};

// Fields of a line, with quotes understood.
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out(1);
  bool inside = false;
  for (const char c : line) {
    if (c == '"') inside = !inside;
    if (c == ',' && !inside)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

TEST_F(Report, CsvHasARowPerPointAndNoLatencyWhenSaturated) {
  std::istringstream csv(sweep_csv(sweep_));
  std::string header, low, high, more;
  std::getline(csv, header);
  std::getline(csv, low);
  std::getline(csv, high);
  EXPECT_FALSE(std::getline(csv, more));
  const auto names = fields(header), first = fields(low), second = fields(high);
  ASSERT_EQ(names.size(), first.size());
  ASSERT_EQ(names.size(), second.size());
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  EXPECT_EQ(first[column("load_flit_per_node_cycle")], "0.1");
  EXPECT_EQ(std::stod(first[column("latency_cycles")]), sweep_.curves[0].points[0].latency());
  EXPECT_EQ(second[column("state")], "saturated");
  EXPECT_EQ(second[column("latency_cycles")], "");
  EXPECT_EQ(first[0], "\"with \"\"quotes\"\", and a comma\"");
}

// The textbook's cycle is 1 ns and its flit 8 B: a load of 0.1 is 0.8 GB/s.
TEST_F(Report, CsvHasTheUnitsOfDataSheets) {
  std::istringstream csv(sweep_csv(sweep_));
  std::string header, low;
  std::getline(csv, header);
  std::getline(csv, low);
  const auto names = fields(header), first = fields(low);
  const auto value = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? "" : first[static_cast<std::size_t>(at - names.begin())];
  };
  const Point& p = sweep_.curves[0].points[0];
  EXPECT_DOUBLE_EQ(std::stod(value("load_gbyte_per_node_s")), 0.8);
  EXPECT_DOUBLE_EQ(std::stod(value("accepted_gbyte_per_node_s")), 8 * p.accepted);
  EXPECT_DOUBLE_EQ(std::stod(value("network_latency_ns")), p.network_latency());
  EXPECT_DOUBLE_EQ(std::stod(value("zero_load_latency_ns")), sweep_.curves[0].zero.latency_cycles);
}

TEST_F(Report, JsonHasTheUnitsOfDataSheets) {
  sweep_.curves[0].saturation = Saturation{{0.25, 0.5}, 0.375, 0.5};
  sweep_.curves[0].capacity = 0.5;
  const auto curve = nlohmann::json::parse(sweep_json(sweep_))["curves"][0];
  EXPECT_EQ(curve["saturation"]["stable_gbyte_per_node_s"], 2);
  EXPECT_EQ(curve["saturation"]["stable_flit_per_node_cycle"], 0.25);
  EXPECT_EQ(curve["saturation"]["peak_accepted_gbyte_per_node_s"], 3);
  EXPECT_EQ(curve["capacity_gbyte_per_node_s"], 4);
  EXPECT_EQ(curve["zero_load"]["latency_ns"], curve["zero_load"]["latency_cycles"]);
  EXPECT_DOUBLE_EQ(curve["points"][0]["load_gbyte_per_node_s"].get<double>(), 0.8);
  EXPECT_FALSE(curve["points"][1].contains("network_latency_ns"));
}

TEST_F(Report, JsonIsReadAgain) {
  const auto json = nlohmann::json::parse(sweep_json(sweep_));
  EXPECT_EQ(json["format"], "weft-traffic-1");
  EXPECT_EQ(json["curves"][0]["points"].size(), 2u);
  EXPECT_EQ(json["curves"][0]["points"][0]["latency_cycles"].get<double>(),
            sweep_.curves[0].points[0].latency());
  EXPECT_FALSE(json["curves"][0]["points"][1].contains("latency_cycles"));
  EXPECT_EQ(json["digest"], sweep_digest(sweep_));
}

TEST_F(Report, ChartsLeaveTheFrameAtSaturation) {
  const auto charts = sweep_charts(sweep_, 3);
  ASSERT_EQ(charts.size(), 2u);
  const auto& points = charts[0].series[0].points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_GT(points[1].y, *charts[0].y.max);
  EXPECT_TRUE(points[1].hollow);
  const std::string svg = to_svg(charts[0]);
  EXPECT_NE(svg.find("mark hollow"), std::string::npos);
  EXPECT_NE(svg.find("saturated: no steady latency"), std::string::npos);
  EXPECT_EQ(charts[1].series[0].points.size(), 2u);
}

TEST_F(Report, ChartsHaveTheUnitsOfDataSheetsBesideCycles) {
  const auto charts = sweep_charts(sweep_, 3);
  EXPECT_EQ(charts[0].x.label, "offered load (flit/node/cycle)");
  ASSERT_TRUE(charts[0].x.second && charts[0].y.second && charts[1].y.second);
  EXPECT_EQ(charts[0].x.second->label, "offered load (GB/s per node)");
  EXPECT_DOUBLE_EQ(charts[0].x.second->factor, 8);
  EXPECT_EQ(charts[0].y.second->label, "mean packet latency (ns)");
  EXPECT_DOUBLE_EQ(charts[0].y.second->factor, 1);
}

// A flit in a cycle is not the same rate on links of different rates.
TEST(ReportUnits, ChartsOfDifferentCyclesHaveNoCycles) {
  std::vector<Scenario> scenarios{test_scenario({"net=mesh:4x4", "packet=8"}),
                                  test_scenario({"net=mesh:4x4", "packet=8"})};
  scenarios[1].hardware.flit = scenarios[1].hardware.flit * 2;
  SweepSettings settings;
  settings.phases.warmup_cycles = 100;
  settings.phases.measure_cycles = 1000;
  const Sweep sweep = run_sweep(scenarios, *parse_loads("0.1"), settings, {});
  const auto charts = sweep_charts(sweep, 3);
  EXPECT_EQ(charts[0].x.label, "offered load (GB/s per node)");
  EXPECT_EQ(charts[0].y.label, "mean packet latency (ns)");
  EXPECT_FALSE(charts[0].x.second);
  EXPECT_DOUBLE_EQ(charts[0].series[0].points[0].x, 0.8);
  EXPECT_DOUBLE_EQ(charts[0].series[1].points[0].y,
                   2 * sweep.curves[1].points[0].packets.latency_ps.mean() / 2000);
}

TEST_F(Report, TableHasTheUnitsOfDataSheets) {
  sweep_.curves[0].saturation = Saturation{{0.25, 0.5}, 0.375, 0.5};
  const std::string table = sweep_table(sweep_, 3);
  EXPECT_NE(table.find("flit/node/cycle     GB/s"), std::string::npos);
  EXPECT_NE(table.find("saturation 0.25 flit/node/cycle (2 GB/s per node)"), std::string::npos);
  EXPECT_NE(table.find("peak accepted 0.375 flit/node/cycle (3 GB/s per node)"), std::string::npos);
  EXPECT_NE(table.find(" ns), "), std::string::npos);  // Zero-load latency.
}

TEST_F(Report, TableSaysWhatIsSaturated) {
  const std::string table = sweep_table(sweep_, 3);
  EXPECT_NE(table.find("saturated"), std::string::npos);
  EXPECT_NE(table.find("zero-load latency"), std::string::npos);
  for (std::size_t at = table.find('\n'); at != std::string::npos; at = table.find('\n', at + 1))
    EXPECT_TRUE(at == 0 || table[at - 1] != ' ');
}

TEST_F(Report, DigestFollowsTheNumbers) {
  Sweep other = sweep_;
  other.curves[0].points[0].accepted += 1e-12;
  EXPECT_NE(sweep_digest(sweep_), sweep_digest(other));
}

}  // namespace
}  // namespace weft
