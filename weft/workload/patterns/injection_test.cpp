// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/injection.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

// Births of one node in the first `cycles` cycles.
std::vector<std::int64_t> births(const Injection& injection, Rng rng, std::int64_t cycles) {
  std::vector<std::int64_t> at;
  auto source = injection.start(rng);
  for (std::int64_t t = injection.gap(source) - 1; t < cycles; t += injection.gap(source))
    at.push_back(t);
  return at;
}

TEST(Injection, EveryProcessKeepsTheMeanLoad) {
  SCOPED_TRACE(replay_text(test_seed()));
  constexpr std::int64_t cycles = 100'000;
  constexpr int nodes = 40;
  for (const char* spec : {"bernoulli", "bursty:0.02,0.1", "bursty:1,1", "periodic"}) {
    for (const double load : {0.001, 0.01, 0.1}) {
      const auto injection = Injection::make(spec, load);
      ASSERT_TRUE(injection) << injection.error().text();
      double count = 0;
      for (int node = 0; node < nodes; ++node) {
        const auto at =
            births(*injection, Rng(test_seed()).stream("inject", static_cast<std::uint64_t>(node)),
                   cycles);
        count += static_cast<double>(at.size());
        for (std::size_t i = 1; i < at.size(); ++i) ASSERT_LT(at[i - 1], at[i]);
      }
      const double expected = load * cycles * nodes;
      // Bursts of ten cycles with births in one cycle in ten at most widen the spread a little.
      EXPECT_NEAR(count, expected, 8 * std::sqrt(expected) + nodes) << spec << " " << load;
    }
  }
}

TEST(Injection, BernoulliIsTheCycleByCycleProcess) {
  // Share of cycles with a birth right after a birth is the load itself.
  const auto injection = Injection::make("bernoulli", 0.3);
  const auto at = births(*injection, Rng(test_seed()), 300'000);
  int neighbours = 0;
  for (std::size_t i = 1; i < at.size(); ++i) neighbours += at[i] == at[i - 1] + 1 ? 1 : 0;
  const auto n = static_cast<double>(at.size());
  EXPECT_NEAR(neighbours, 0.3 * n, 5 * std::sqrt(0.21 * n));
}

TEST(Injection, CycleZeroIsAChanceLikeEveryOther) {
  int first = 0;
  constexpr int nodes = 20'000;
  const auto injection = Injection::make("bernoulli", 0.2);
  for (int node = 0; node < nodes; ++node) {
    const auto at =
        births(*injection, Rng(test_seed()).stream("inject", static_cast<std::uint64_t>(node)), 1);
    first += static_cast<int>(at.size());
  }
  EXPECT_NEAR(first, 0.2 * nodes, 5 * std::sqrt(0.16 * nodes));
}

TEST(Injection, PeriodicGapsDifferByOneAtMost) {
  const auto injection = Injection::make("periodic", 0.15);
  const auto at = births(*injection, Rng(test_seed()), 100'000);
  for (std::size_t i = 1; i < at.size(); ++i) {
    EXPECT_GE(at[i] - at[i - 1], 6);
    EXPECT_LE(at[i] - at[i - 1], 7);
  }
  EXPECT_EQ(births(*Injection::make("periodic", 1), Rng(1), 10).size(), 10u);
}

TEST(Injection, BurstsClusterBirths) {
  // Dense inside bursts: a gap of one is far more common than the mean load says.
  const auto injection = Injection::make("bursty:0.001,0.01", 0.05);
  const auto at = births(*injection, Rng(test_seed()), 1'000'000);
  int neighbours = 0;
  for (std::size_t i = 1; i < at.size(); ++i) neighbours += at[i] == at[i - 1] + 1 ? 1 : 0;
  const double share = neighbours / static_cast<double>(at.size());
  EXPECT_NEAR(share, 0.55 * 0.99, 0.03);  // 0.05 / (1/11) in a burst that goes on.
}

TEST(Injection, SameStreamSameBirths) {
  const auto injection = Injection::make("bursty:0.02,0.1", 0.01);
  EXPECT_EQ(births(*injection, Rng(5).stream("inject", 3), 50'000),
            births(*injection, Rng(5).stream("inject", 3), 50'000));
}

TEST(Injection, RefusesWhatCannotBe) {
  EXPECT_FALSE(Injection::make("bernoulli", 1.5));
  EXPECT_FALSE(Injection::make("bernouli", 0.1));
  EXPECT_FALSE(Injection::make("periodic:3", 0.1));
  EXPECT_FALSE(Injection::make("bursty", 0.1));
  EXPECT_FALSE(Injection::make("bursty:0,0.1", 0.1));
  EXPECT_FALSE(Injection::make("bursty:0.01,0.5", 0.1));  // On 2 % of the time.
}

}  // namespace
}  // namespace weft
