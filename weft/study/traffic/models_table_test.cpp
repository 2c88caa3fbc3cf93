// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/study/traffic/report.hpp>
#include <weft/study/traffic/test_scenario.hpp>

namespace weft {
namespace {

Point point_at(double load, double accepted, std::int64_t latency_cycles) {
  Point point;
  point.load = load;
  point.accepted = accepted;
  point.cycle_ps = 1000;
  point.packets.latency_ps.add(latency_cycles * 1000);
  point.wall_s = 0.25;
  return point;
}

class ModelsTable : public testing::Test {
 protected:
  ModelsTable() {
    for (const char* const model : {"model=packet", "model=flow"}) {
      scenarios_.push_back(test_scenario({"net=mesh:4x4", model}));
      scenarios_.back().label = std::string("vcs=2, ") + model;
    }
    for (const Scenario& scenario : scenarios_) {
      sweep_.curves.emplace_back().scenario = &scenario;
      sweep_.curves.back().points = {point_at(0.1, 0.1, 20), point_at(0.5, 0.4, 50)};
    }
  }
  bool says(const std::string& words) const {
    return models_table(sweep_, 2).find(words) != std::string::npos;
  }
  std::vector<Scenario> scenarios_;
  Sweep sweep_;
};

TEST_F(ModelsTable, NamesWhatTheCurvesShareAndHowLongTheyTook) {
  EXPECT_TRUE(says("models of vcs=2\n"));
  EXPECT_TRUE(says("simulated in: packet 0.50 s, flow 0.50 s"));
  scenarios_[0].label = "model=packet";
  EXPECT_TRUE(says("models of mesh:4x4\n"));
}

TEST_F(ModelsTable, DifferencesAreToTheFirstModel) {
  sweep_.curves[1].points[1] = point_at(0.5, 0.38, 55);
  const std::string text = models_table(sweep_, 2);
  EXPECT_NE(text.find("packet          0.40000               50.00"), std::string::npos) << text;
  EXPECT_NE(text.find("flow            0.38000     -5.0      55.00    +10.0"), std::string::npos)
      << text;
}

TEST_F(ModelsTable, SaturatedPointsHaveNoLatency) {
  sweep_.curves[1].points[1].state = PointState::saturated;
  EXPECT_TRUE(says("saturated         \n")) << models_table(sweep_, 2);
}

TEST_F(ModelsTable, PointsThatOneModelLacksAreLeftOut) {
  sweep_.curves[0].points.pop_back();
  const std::string text = models_table(sweep_, 2);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8) << text;
}

TEST_F(ModelsTable, SaturationsAreCompared) {
  for (Curve& curve : sweep_.curves) curve.saturation = Saturation{.load = {0.4, 0.41}};
  sweep_.curves[1].saturation->load.stable = 0.44;
  EXPECT_TRUE(says("flow            0.44000    +10.0")) << models_table(sweep_, 2);
}

TEST_F(ModelsTable, OtherSweepsHaveNone) {
  EXPECT_EQ(models_table(sweep_, 0), "");
}

}  // namespace
}  // namespace weft
