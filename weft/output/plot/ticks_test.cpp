// SPDX-License-Identifier: Apache-2.0
#include "weft/output/plot/ticks.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace weft {
namespace {

std::string texts(const Ticks& ticks) {
  std::string all;
  for (const double at : ticks.at) all += (all.empty() ? "" : " ") + tick_text(at);
  return all;
}

TEST(Ticks, AreRoundNumbers) {
  EXPECT_EQ(texts(linear_ticks(0, 0.3, 6)), "0 0.05 0.1 0.15 0.2 0.25 0.3");
  EXPECT_EQ(texts(linear_ticks(0, 97, 5)), "0 20 40 60 80 100");
  EXPECT_EQ(texts(linear_ticks(3, 3, 5)), "3 4 5 6");
  EXPECT_EQ(texts(linear_ticks(-1, 1, 4)), "-1 -0.5 0 0.5 1");
}

TEST(Ticks, CoverTheRange) {
  for (double high = 0.001; high < 1e6; high *= 1.7) {
    const Ticks ticks = linear_ticks(0, high, 6);
    EXPECT_LE(ticks.first, 0);
    EXPECT_GE(ticks.last, high * (1 - 1e-8));
    EXPECT_GE(ticks.at.size(), 3u);
    EXPECT_LE(ticks.at.size(), 9u);
  }
}

TEST(Ticks, BinaryLogIsALogarithm) {
  for (double value = 1e-6; value < 1e9; value *= 1.37)
    EXPECT_NEAR(binary_log(value), std::log2(value), 1e-8);
}

TEST(Ticks, OfALogarithmicAxis) {
  EXPECT_EQ(texts(log_ticks(10, 1000)), "10 20 50 100 200 500 1000");
  EXPECT_EQ(texts(log_ticks(3, 2e4)), "1 10 100 1000 10000 100000");
  EXPECT_EQ(texts(log_ticks(10, 10)), "10 20 50 100");
}

}  // namespace
}  // namespace weft
