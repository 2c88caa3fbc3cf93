// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/experiment.hpp"
#include <gtest/gtest.h>

#include <weft/study/traffic/test_scenario.hpp>

namespace weft {
namespace {

// BookSim's formula for this router: 5 H + 6 + L cycles; the mean H of a uniform k x k mesh with
// the source included is 2 (k^2 - 1) / (3 k), of an even torus k / 2.
TEST(ZeroLoad, MeshAndTorusHaveTheClosedForm) {
  const auto mesh = zero_load_latency(test_scenario({"net=mesh:8x8", "packet=32"}));
  ASSERT_TRUE(mesh);
  EXPECT_DOUBLE_EQ(mesh->hops, 5.25);
  EXPECT_DOUBLE_EQ(mesh->latency_cycles, 5 * 5.25 + 6 + 32);
  EXPECT_TRUE(mesh->exact);
  EXPECT_EQ(mesh->packets, 4096u);
  const auto torus = zero_load_latency(test_scenario({"net=torus:8x8", "packet=1"}));
  EXPECT_DOUBLE_EQ(torus->latency_cycles, 5 * 4.0 + 6 + 1);
}

TEST(ZeroLoad, FollowsThePattern) {
  // Opposite corners of 4 x 4: |3 - 2x| + |3 - 2y|, 4 on average.
  const auto corner =
      zero_load_latency(test_scenario({"net=mesh:4x4", "packet=4", "pattern=bitcomp"}));
  EXPECT_DOUBLE_EQ(corner->hops, 4);
  EXPECT_EQ(corner->packets, 16u);
  // All to node 0 of a ring of four: 0, 1, 1 and 2 hops.
  const auto hot =
      zero_load_latency(test_scenario({"net=mesh:4", "packet=4", "pattern=hotspot:1@0"}));
  EXPECT_DOUBLE_EQ(hot->hops, (0 + 1 + 2 + 3) / 4.0);
}

TEST(ZeroLoad, MixedSizesCountByWeight) {
  const auto mixed =
      zero_load_latency(test_scenario({"net=mesh:4x4", "packet=1:3,9:1", "pattern=bitcomp"}));
  EXPECT_DOUBLE_EQ(mixed->latency_cycles, 5 * 4.0 + 6 + (3 * 1 + 9) / 4.0);
}

// Too many pairs to send, but few lengths: mean distance 2 (k^2 - 1) / 3k, the source among the
// destinations.
TEST(ZeroLoad, ManyPairsAreKnownByTheirLength) {
  const auto many = zero_load_latency(test_scenario({"net=mesh:32x32", "packet=4"}));
  ASSERT_TRUE(many);
  EXPECT_TRUE(many->exact);
  EXPECT_EQ(many->packets, 63u);
  EXPECT_DOUBLE_EQ(many->hops, 2.0 * 1023 / 96);
  EXPECT_DOUBLE_EQ(many->latency_cycles, 5 * many->hops + 6 + 4);
}

TEST(ZeroLoad, LargeNetworksAreSampled) {
  const auto large = zero_load_latency(test_scenario({"net=mesh:64x64", "packet=4"}));
  ASSERT_TRUE(large);
  EXPECT_FALSE(large->exact);
  EXPECT_NEAR(large->hops, 2.0 * 4095 / 192, 1.2);
  EXPECT_DOUBLE_EQ(large->latency_cycles, 5 * large->hops + 6 + 4);
}

}  // namespace
}  // namespace weft
