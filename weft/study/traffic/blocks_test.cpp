// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/blocks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/study/traffic/compare.hpp>
#include <weft/study/traffic/report.hpp>
#include <weft/study/traffic/test_scenario.hpp>

namespace weft {
namespace {

Point point(double load, std::int64_t latency_cycles, double news = 0) {
  Point p;
  p.load = load;
  p.accepted = load - 0.01;
  p.cycle_ps = 1000;
  p.measured_cycles = 100;
  p.state = latency_cycles > 0 ? PointState::steady : PointState::saturated;
  p.news_share_mean = news;
  if (latency_cycles > 0) p.packets.latency_ps.add(latency_cycles * 1000);
  return p;
}
constexpr int saturated = 0;

// Two blocks, mesh and torus, of dor, crossline and dor with as many VCs; the second block is not
// filled in.
class Blocks : public testing::Test {
 protected:
  Blocks() {
    scenarios_ = *make_comparison(test_request({"packet=4"}), {{"net", {"mesh:4x4", "torus:4x4"}}},
                                  *parse_comparison("crossline,dor", "own,vcs"));
    for (const Scenario& scenario : scenarios_) sweep_.curves.emplace_back().scenario = &scenario;
    for (Curve& curve : sweep_.curves) curve.zero.latency_cycles = 20;
    sweep_.curves[0].points = {point(0.1, 21, 0.02), point(0.2, 30, 0.05), point(0.3, 40, 0.04)};
    // By chance steady beyond the end: does not count.
    sweep_.curves[1].points = {point(0.1, 22), point(0.2, saturated), point(0.3, 90)};
    sweep_.curves[2].points = {point(0.1, 23), point(0.2, 31), point(0.3, saturated)};
  }
  std::vector<Scenario> scenarios_;
  Sweep sweep_;
};

TEST_F(Blocks, AreTheCombinations) {
  const auto blocks = blocks_of(sweep_);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].text, "net=mesh:4x4, 4 flits, uniform traffic");
  EXPECT_EQ(blocks[1].text, "net=torus:4x4, 4 flits, uniform traffic");
  ASSERT_EQ(blocks[0].curves.size(), 3u);
  EXPECT_EQ(label_in_block(*blocks[0].curves[1]->scenario), "dor, 1 VC");
}

TEST_F(Blocks, NumbersOfAList) {
  const Comparison mesh = compare_curves(sweep_)[0];
  EXPECT_FALSE(mesh.searched);
  EXPECT_EQ(mesh.reference, 1u);
  EXPECT_EQ(mesh.common_load, 0.1);
  const auto& rows = mesh.rows;
  EXPECT_EQ(rows[0].saturation, 0.3);
  EXPECT_FALSE(rows[0].reached);
  EXPECT_EQ(rows[1].saturation, 0.1);
  EXPECT_TRUE(rows[1].reached);
  EXPECT_EQ(rows[2].saturation, 0.2);
  EXPECT_DOUBLE_EQ(*rows[0].ratio, 3);
  EXPECT_DOUBLE_EQ(*rows[1].ratio, 1);
  EXPECT_DOUBLE_EQ(*rows[2].ratio, 2);
  EXPECT_DOUBLE_EQ(rows[1].peak_accepted, 0.29);
  EXPECT_EQ(rows[0].latency, 21);
  EXPECT_EQ(rows[2].latency, 23);
  EXPECT_EQ(rows[0].news_share_mean, 0.04);
}

TEST_F(Blocks, NumbersOfASearch) {
  for (std::size_t i = 0; i < 3; ++i)
    sweep_.curves[i].saturation = Saturation{
        .load = {.stable = 0.2, .unstable = 0.21}, .peak_accepted = 0.4, .peak_at_load = 1};
  sweep_.curves[1].points[1] = point(0.2, 50);
  sweep_.curves[2].saturation->load = {.stable = 0, .unstable = 0.01};
  const Comparison mesh = compare_curves(sweep_)[0];
  EXPECT_TRUE(mesh.searched);
  EXPECT_EQ(mesh.rows[0].saturation, 0.2);
  EXPECT_EQ(mesh.rows[0].peak_accepted, 0.4);
  EXPECT_EQ(mesh.rows[0].news_share_mean, 0.05);
  EXPECT_EQ(mesh.rows[0].ratio, 1);
  EXPECT_FALSE(mesh.rows[2].saturation);
  EXPECT_FALSE(mesh.rows[2].ratio);
  EXPECT_FALSE(mesh.common_load);
}

TEST_F(Blocks, OfTwoLowerBoundsThereIsNoRatio) {
  sweep_.curves[1].points = {point(0.1, 22)};
  const Comparison mesh = compare_curves(sweep_)[0];
  EXPECT_FALSE(mesh.rows[0].ratio);
  EXPECT_EQ(mesh.rows[1].ratio, 1);
  EXPECT_EQ(mesh.rows[2].ratio, 2);
}

TEST_F(Blocks, WithoutResultsNothingIsClaimed) {
  const Comparison torus = compare_curves(sweep_)[1];
  for (const ComparedRow& row : torus.rows) {
    EXPECT_FALSE(row.saturation || row.ratio || row.latency);
    EXPECT_EQ(row.peak_accepted, 0);
  }
  EXPECT_FALSE(torus.common_load);
}

TEST_F(Blocks, FirstRowIsTheReferenceWithoutDimensionOrder) {
  scenarios_[1].compared->basis = "vcs";
  EXPECT_EQ(compare_curves(sweep_)[0].reference, 0u);
}

TEST_F(Blocks, TableHasALinePerRow) {
  const std::string table = comparison_table(sweep_, 3);
  EXPECT_NE(table.find("comparison: net=mesh:4x4, 4 flits, uniform traffic\n"), std::string::npos);
  EXPECT_NE(table.find("\n  crossline   2        4     20.00        >=0.3000          0.2900  "
                       ">=3.00     21.00   4.00    >=2.400      2.320      21.0\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\n  dor         1        4     20.00          0.1000          0.2900    "
                       "1.00     22.00      -      0.800      2.320      22.0\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("  ratio to dor, 1 VC; latency at load 0.1, "), std::string::npos);
  EXPECT_NE(table.find("no load that was tried was carried by all\n"), std::string::npos);
}

TEST_F(Blocks, JsonSaysTheSame) {
  const auto json = nlohmann::json::parse(sweep_json(sweep_));
  ASSERT_EQ(json["comparison"].size(), 2u);
  const auto& mesh = json["comparison"][0];
  EXPECT_EQ(mesh["combination"], "net=mesh:4x4");
  EXPECT_EQ(mesh["saturation_from"], "list");
  EXPECT_EQ(mesh["reference"], "net=mesh:4x4, dor, 1 VC");
  EXPECT_EQ(mesh["latency_at_load_flit_per_node_cycle"], 0.1);
  const auto& row = mesh["rows"][2];
  EXPECT_EQ(row["basis"], "vcs");
  EXPECT_EQ(row["vcs"], 2);
  EXPECT_EQ(row["buffer_flits"], 4);
  EXPECT_EQ(row["saturation_flit_per_node_cycle"], 0.2);
  EXPECT_EQ(row["ratio"], 2);
  EXPECT_EQ(row["latency_cycles"], 23);
  EXPECT_EQ(row["latency_ns"], 23);
  EXPECT_EQ(row["saturation_gbyte_per_node_s"], 1.6);
  EXPECT_FALSE(mesh["rows"][0]["saturation_reached"].get<bool>());
  EXPECT_FALSE(json["comparison"][1]["rows"][0].contains("ratio"));
}

TEST_F(Blocks, CsvHasTheBasis) {
  const std::string csv = sweep_csv(sweep_);
  EXPECT_NE(csv.find(",news_share_mean,basis,"), std::string::npos);
  EXPECT_NE(csv.find(",0,vcs,"), std::string::npos);
}

TEST_F(Blocks, EachHasItsCharts) {
  const auto charts = sweep_charts(sweep_, 3);
  ASSERT_EQ(charts.size(), 4u);
  EXPECT_EQ(charts[0].title, "Latency over load");
  EXPECT_EQ(charts[1].title, "Throughput over load");
  EXPECT_EQ(charts[2].subtitle, "net=torus:4x4, 4 flits, uniform traffic");
  ASSERT_EQ(charts[0].series.size(), 3u);
  EXPECT_EQ(charts[0].series[2].label, "dor, 2 VCs");
  EXPECT_EQ(charts[0].series[1].points.size(), 2u);
  EXPECT_EQ(charts[1].series[1].points.size(), 3u);
}

TEST_F(Blocks, OtherSweepsAreOneBlockAndNoComparison) {
  for (Scenario& scenario : scenarios_) scenario.compared.reset();
  EXPECT_EQ(blocks_of(sweep_).size(), 1u);
  EXPECT_EQ(comparison_table(sweep_, 3), "");
  EXPECT_FALSE(nlohmann::json::parse(sweep_json(sweep_)).contains("comparison"));
  EXPECT_TRUE(blocks_of(Sweep{}).empty());
}

}  // namespace
}  // namespace weft
