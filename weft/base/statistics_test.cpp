// SPDX-License-Identifier: Apache-2.0
#include "weft/base/statistics.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

TEST(Running, IsZeroWhenEmpty) {
  const Running r;
  EXPECT_EQ(r.mean(), 0);
  EXPECT_EQ(r.variance(), 0);
  EXPECT_EQ(r.min(), 0);
  EXPECT_EQ(r.max(), 0);
}

TEST(Running, AgreesWithHand) {
  Running r;
  for (const int v : {2, 4, 4, 4, 5, 5, 7, 9}) r.add(v);
  EXPECT_EQ(r.count(), 8);
  EXPECT_EQ(r.mean(), 5);
  EXPECT_DOUBLE_EQ(r.variance(), 32.0 / 7);
  EXPECT_EQ(r.min(), 2);
  EXPECT_EQ(r.max(), 9);
}

TEST(Running, KeepsASmallSpreadOnALargeMean) {
  Running r;
  const std::int64_t far = 1'000'000'000'000'000;
  for (const int v : {-1, 0, 1}) r.add(far + v);
  EXPECT_EQ(r.mean(), 1e15);
  EXPECT_EQ(r.variance(), 1);
  Running negative;
  for (const int v : {-3, -4}) negative.add(v);
  EXPECT_EQ(negative.mean(), -3.5);
  EXPECT_EQ(negative.variance(), 0.5);
}

TEST(Running, SaysWhenTheSquaresAreLost) {
  Running r;
  for (int i = 0; i < 5; ++i) r.add(std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(std::isnan(r.variance()));
  EXPECT_EQ(r.mean(), static_cast<double>(std::numeric_limits<std::int64_t>::min()));
}

TEST(Running, MergesInAnyOrder) {
  Rng rng(test_seed());
  SCOPED_TRACE(replay_text(test_seed()));
  Running parts[3], whole;
  for (int i = 0; i < 3'000; ++i) {
    const auto value = static_cast<std::int64_t>(rng.next() >> 20) - (std::int64_t{1} << 43);
    parts[rng.below(3)].add(value);
    whole.add(value);
  }
  Running forward, backward;
  for (const int i : {0, 1, 2}) forward.merge(parts[i]);
  for (const int i : {2, 1, 0}) backward.merge(parts[i]);
  EXPECT_EQ(forward, whole);
  EXPECT_EQ(backward, whole);
}

}  // namespace
}  // namespace weft
