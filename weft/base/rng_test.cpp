// SPDX-License-Identifier: Apache-2.0
#include "weft/base/rng.hpp"

#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

// Every prediction depends on these numbers: if one changes, all results change.
TEST(Rng, GivesTheNumbersItAlwaysGave) {
  Rng rng(1);
  EXPECT_EQ(rng.next(), 13691216485492528690u);
  EXPECT_EQ(rng.next(), 3929468508559180687u);
  EXPECT_EQ(Rng(0).at(0), 5584584006093869575u);
  EXPECT_EQ(Rng(1).stream("nic", 7).at(3), 7869225581013668844u);
  EXPECT_EQ(Rng(1).stream("traffic").at(0), 16313984467089238929u);
  EXPECT_EQ(Rng(42).below(1'000'000), 30399u);
}

TEST(Rng, ReachesAnyPlaceWithoutWalking) {
  Rng walking(5);
  const Rng jumping(5);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(walking.next(), jumping.at(i));
}

TEST(Rng, StreamsDiffer) {
  std::set<std::uint64_t> seen;
  const Rng root(3);
  for (const char* name : {"", "a", "b", "ab", "nic", "router"})
    for (std::uint64_t index = 0; index < 100; ++index)
      for (std::uint64_t counter = 0; counter < 10; ++counter)
        seen.insert(root.stream(name, index).at(counter));
  for (std::uint64_t counter = 0; counter < 10; ++counter) seen.insert(root.at(counter));
  EXPECT_EQ(seen.size(), 6u * 100 * 10 + 10);
}

TEST(Rng, AStreamDoesNotDependOnWhatWasDrawn) {
  Rng drawn(3);
  drawn.next();
  EXPECT_EQ(drawn.stream("a").at(0), Rng(3).stream("a").at(0));
}

TEST(Rng, BelowStaysBelow) {
  Rng rng(9);
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, ~std::uint64_t{0}})
    for (int i = 0; i < 100; ++i) EXPECT_LT(rng.below(bound), bound);
}

// Chi-square over `bound` cells: its mean is bound - 1, its variance twice that. Five standard
// deviations above the mean would mean a bias; the seed is fixed, so the test is deterministic.
TEST(Rng, BelowIsUniform) {
  for (const std::uint64_t bound : {2u, 3u, 7u, 64u, 1000u}) {
    Rng rng = Rng(11).stream("uniform", bound);
    const std::uint64_t draws = bound * 1000;
    std::vector<double> cells(bound);
    for (std::uint64_t i = 0; i < draws; ++i) cells[rng.below(bound)] += 1;
    double chi = 0;
    for (const double cell : cells) chi += (cell - 1000) * (cell - 1000) / 1000;
    const auto freedom = static_cast<double>(bound - 1);
    EXPECT_LT(chi, freedom + 5 * std::sqrt(2 * freedom)) << bound;
  }
}

TEST(Rng, BitsAndNeighboursAreBalanced) {
  const Rng rng(17);
  int ones = 0;
  int changed = 0;
  constexpr int words = 10'000;
  for (std::uint64_t i = 0; i < words; ++i) {
    ones += std::popcount(rng.at(i));
    changed += std::popcount(rng.at(i) ^ rng.at(i + 1));
  }
  // 640,000 fair bits: the standard deviation is 400, and five of them are allowed.
  EXPECT_NEAR(ones, words * 32, 2000);
  EXPECT_NEAR(changed, words * 32, 2000);
}

TEST(Rng, CoinIsFair) {
  Rng rng(23);
  int heads = 0;
  for (int i = 0; i < 10'000; ++i) heads += rng.coin() ? 1 : 0;
  EXPECT_NEAR(heads, 5000, 250);
}

}  // namespace
}  // namespace weft
