// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/probability.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

TEST(Probability, RatiosAreExact) {
  EXPECT_EQ(Probability::ratio(1, 2).part(), std::uint64_t{1} << 63);
  EXPECT_EQ(Probability::of(0.25).part(), std::uint64_t{1} << 62);
  EXPECT_TRUE(Probability::ratio(7, 7).sure());
  EXPECT_TRUE(Probability::of(1).sure());
  EXPECT_TRUE(Probability::ratio(0, 7).never());
}

TEST(Geometric, SureSuccessNeedsOneTrial) {
  const Geometric always(Probability::always());
  EXPECT_EQ(always.gap(0), 1);
  EXPECT_EQ(always.gap(~std::uint64_t{0}), 1);
}

// With p = 1/2 the powers of q are exact: the gap is one more than the number of leading zeros.
TEST(Geometric, HalfCountsLeadingZeros) {
  const Geometric half(Probability::of(0.5));
  for (int zeros = 0; zeros < 62; ++zeros) {
    const std::uint64_t first = std::uint64_t{1} << (63 - zeros);
    EXPECT_EQ(half.gap(first), zeros + 1);
    EXPECT_EQ(half.gap(2 * (first - 1) + 1), zeros + 1);
  }
}

// The slow obvious version: multiply until the draw is reached.
TEST(Geometric, AgreesWithStepByStepSearch) {
  Rng rng = Rng(test_seed()).stream("geometric");
  SCOPED_TRACE(replay_text(test_seed()));
  for (const double p : {0.9, 0.5, 0.3, 0.05, 0.01}) {
    const Geometric geometric(Probability::of(p));
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t u = rng.next();
      const double share = static_cast<double>(u) / 18446744073709551616.0;
      std::int64_t expected = 1;
      for (double power = 1 - p; share < power; power *= 1 - p) ++expected;
      EXPECT_NEAR(static_cast<double>(geometric.gap(u)), static_cast<double>(expected),
                  1e-9 * static_cast<double>(expected) + (share < 1e-12 ? 1 : 0))
          << p << " " << u;
    }
  }
}

TEST(Geometric, HigherProbabilityNeverWaitsLonger) {
  Rng rng = Rng(test_seed()).stream("monotone");
  const Geometric rare(Probability::of(0.001)), common(Probability::of(0.0011));
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t u = rng.next();
    EXPECT_LE(common.gap(u), rare.gap(u));
  }
}

// Mean 1/p and the share of each small gap, within five standard deviations.
TEST(Geometric, MeanAndSharesAreRight) {
  SCOPED_TRACE(replay_text(test_seed()));
  constexpr int draws = 200'000;
  for (const double p : {0.7, 0.1, 0.003, 0.00003}) {
    Rng rng = Rng(test_seed()).stream("mean", static_cast<std::uint64_t>(1 / p));
    const Geometric geometric(Probability::of(p));
    double sum = 0;
    std::vector<int> counts(6);
    for (int i = 0; i < draws; ++i) {
      const std::int64_t gap = geometric.draw(rng);
      ASSERT_GE(gap, 1);
      sum += static_cast<double>(gap);
      if (gap <= 5) ++counts[static_cast<std::size_t>(gap)];
    }
    EXPECT_NEAR(sum / draws, 1 / p, 5 * std::sqrt(1 - p) / p / std::sqrt(draws)) << p;
    for (int gap = 1; gap <= 5; ++gap) {
      const double share = std::pow(1 - p, gap - 1) * p;
      EXPECT_NEAR(counts[static_cast<std::size_t>(gap)], share * draws,
                  5 * std::sqrt(share * draws) + 1)
          << p << " " << gap;
    }
  }
}

}  // namespace
}  // namespace weft
