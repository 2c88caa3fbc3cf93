// SPDX-License-Identifier: Apache-2.0
#include "weft/study/step/calibrate.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace weft {
namespace {

NetworkHardware small_buffers() {
  NetworkHardware m;
  m.vcs = 2;
  m.buffer = Bytes{512};
  m.lookahead = true;
  return m;
}

// Where packets stand in each other's way, flows are too fast until they are calibrated.
TEST(Calibrate, BringsFlowsNearToPackets) {
  const Topology topology = *make_topology("torus:6x6");
  const auto policy = *make_policy("dor:up", topology, 2);
  const Arena arena{topology, small_buffers(), *policy};
  CalibrationOptions options;
  options.message = Bytes{65536};
  const auto found = calibrate_flows(arena, {}, options);
  ASSERT_TRUE(found) << found.error().text();
  double before = 0, after = 0;
  for (const double ratio : found->before) before += std::log(ratio);
  for (const double ratio : found->after) after += std::log(ratio);
  EXPECT_LT(before, 0);
  EXPECT_LT(std::abs(after), std::abs(before) / 4);
  EXPECT_LT(found->model.merge_efficiency, 1);
  const auto again = calibrate_flows(arena, {}, options);
  EXPECT_EQ(again->model.merge_efficiency, found->model.merge_efficiency);
}

TEST(Calibrate, NeedsAPermutation) {
  const Topology topology = *make_topology("mesh:2");
  const auto policy = *make_policy("dor", topology, 1);
  CalibrationOptions none;
  none.permutations = 0;
  EXPECT_FALSE(calibrate_flows({topology, NetworkHardware(), *policy}, {}, none));
}

}  // namespace
}  // namespace weft
