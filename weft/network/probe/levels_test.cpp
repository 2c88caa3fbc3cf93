// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/levels.hpp"

#include <gtest/gtest.h>

#include <weft/network/probe/meter.hpp>

namespace weft::probe {
namespace {

TEST(Levels, NoJumpIsOneLevel) {
  const std::vector<double> row = {100, 101, 102, 103, 104, 105};
  ASSERT_EQ(find_levels(row, 0.1).size(), 1u);
  EXPECT_TRUE(find_levels({}, 0.1).empty());
}

TEST(Levels, EveryJumpThatStandsOutIsFound) {
  const std::vector<double> row = {100, 101, 102, 103, 140, 141, 142, 200, 201};
  const auto levels = find_levels(row, 0.5);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].count, 4u);
  EXPECT_EQ(levels[1].count, 3u);
  EXPECT_EQ(levels[2].first, 7u);
  EXPECT_EQ(levels[1].median_ns, 141);
}

TEST(Levels, NoiseHidesAJump) {
  const std::vector<double> row = {100, 101, 102, 103, 140, 141, 142};
  EXPECT_EQ(find_levels(row, 10).size(), 1u);
}

TEST(Levels, ASpreadAsWideAsTheJumpHidesIt) {
  const std::vector<double> row = {100, 110, 120, 130, 140, 150, 160, 170, 190};
  EXPECT_EQ(find_levels(std::span(row).first(8), 0.1).size(), 1u);
  EXPECT_EQ(find_levels(row, 0.1).size(), 1u);
}

TEST(Levels, NoiseIsTheDifferenceOfRepeats) {
  EXPECT_EQ(noise_of(std::vector<double>{5, 6}, std::vector<double>{5, 6}), 0);
  EXPECT_GT(noise_of(std::vector<double>{5, 6, 7}, std::vector<double>{6, 8, 7.5}), 0.9);
  EXPECT_EQ(noise_of(std::vector<double>{no_answer}, std::vector<double>{6}), 0);
}

TEST(Levels, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Rounds, NobodyMeasuresAndIsMeasuredAtOnce) {
  const std::vector<Pair> pairs = {{0, 1}, {0, 2}, {1, 2}, {3, 2}, {4, 5}, {5, 4}};
  const auto rounds = plan_rounds(pairs);
  std::size_t count = 0;
  for (const auto& round : rounds) {
    std::vector<int> role(6, -1);
    for (const Errand& errand : round) {
      EXPECT_EQ(role[errand.from], -1);
      role[errand.from] = static_cast<int>(errand.from);
      for (const std::uint32_t i : errand.pairs) {
        EXPECT_EQ(pairs[i].from, errand.from);
        EXPECT_EQ(role[pairs[i].to], -1);
        role[pairs[i].to] = static_cast<int>(errand.from);
        ++count;
      }
    }
  }
  EXPECT_EQ(count, pairs.size());
  ASSERT_EQ(rounds[0].size(), 2u) << "a row is one errand";
  EXPECT_EQ(rounds[0][0].pairs.size(), 2u);
}

}  // namespace
}  // namespace weft::probe
