// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/traffic_matrix.hpp"

#include <map>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

std::string refusal(std::uint32_t ranks, std::vector<Flow> flows) {
  const auto made = TrafficMatrix::make(ranks, std::move(flows));
  return made ? "" : made.error().text();
}

TEST(TrafficMatrix, SortsAddsUpAndLeavesNothingOut) {
  const auto made = TrafficMatrix::make(
      4, {{2, 1, 5, 1}, {0, 3, 7, 2}, {2, 1, 6, 1}, {1, 1, 3, 1}, {3, 0, 0, 0}, {0, 1, 0, 4}});
  ASSERT_TRUE(made) << made.error().text();
  const std::vector<Flow> expected = {{0, 1, 0, 4}, {0, 3, 7, 2}, {1, 1, 3, 1}, {2, 1, 11, 2}};
  EXPECT_EQ(std::vector<Flow>(made->flows().begin(), made->flows().end()), expected);
  EXPECT_EQ(made->bytes(), 21u);
  EXPECT_EQ(made->ranks(), 4u);
  EXPECT_EQ(made->from(0).size(), 2u);
  EXPECT_EQ(made->from(2).front(), expected[3]);
  EXPECT_TRUE(made->from(3).empty());
}

TEST(TrafficMatrix, MayBeEmpty) {
  EXPECT_EQ(TrafficMatrix().ranks(), 0u);
  EXPECT_TRUE(TrafficMatrix().flows().empty());
  const auto silent = TrafficMatrix::make(3, {});
  ASSERT_TRUE(silent);
  EXPECT_TRUE(silent->from(2).empty());
}

TEST(TrafficMatrix, RefusesRanksAndSumsOutOfRange) {
  EXPECT_EQ(refusal(4, {{0, 4, 1, 1}}), "rank 4 is not one of the 4 ranks, which count from 0");
  EXPECT_NE(refusal(0, {{0, 0, 1, 1}}), "");
  EXPECT_NE(refusal(TrafficMatrix::ranks_max + 1, {}), "");
  const std::uint64_t half = std::uint64_t{1} << 61;
  EXPECT_EQ(refusal(2, {{0, 1, half, 1}, {1, 0, half, 1}}), "");
  EXPECT_NE(refusal(2, {{0, 1, half, 1}, {1, 0, half, 1}, {0, 1, 1, 1}}), "");
  EXPECT_NE(refusal(2, {{0, 1, ~std::uint64_t{0}, 1}, {1, 0, 2, 1}}), "");
  EXPECT_NE(refusal(2, {{0, 1, 1, half}, {1, 0, 1, half + 1}}), "");
}

TEST(TrafficMatrix, EqualsTheSumsOfAMap) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  for (int round = 0; round < 50; ++round) {
    const auto ranks = static_cast<std::uint32_t>(1 + rng.below(20));
    std::vector<Flow> flows(rng.below(200));
    std::map<std::pair<std::uint32_t, std::uint32_t>, Flow> sums;
    for (Flow& f : flows) {
      f = {static_cast<std::uint32_t>(rng.below(ranks)),
           static_cast<std::uint32_t>(rng.below(ranks)), rng.below(3) * 1000, rng.below(2)};
      Flow& sum = sums[{f.from, f.to}];
      sum = {f.from, f.to, sum.bytes + f.bytes, sum.messages + f.messages};
    }
    std::erase_if(sums, [](const auto& s) { return s.second.bytes + s.second.messages == 0; });
    const auto made = TrafficMatrix::make(ranks, flows);
    ASSERT_TRUE(made);
    std::vector<Flow> expected, by_row;
    for (const auto& [pair, sum] : sums) expected.push_back(sum);
    for (std::uint32_t r = 0; r < ranks; ++r)
      for (const Flow& f : made->from(r)) by_row.push_back(f);
    EXPECT_EQ(std::vector<Flow>(made->flows().begin(), made->flows().end()), expected);
    EXPECT_EQ(by_row, expected);
  }
}

}  // namespace
}  // namespace weft
