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
  EXPECT_EQ(charts[1].series[0].points.size(), 2u);
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
