// SPDX-License-Identifier: Apache-2.0
// Shares by hand, and beside the slow obvious way: all flows grow together, and those that meet a
// full link stop.
#include "weft/simulate/flows/fair_shares.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>

namespace weft {
namespace {

constexpr std::uint32_t whole = LinkUse::whole;

struct PlainFlow {
  std::vector<LinkUse> uses;
  double limit = std::numeric_limits<double>::infinity();
  double speed = 0;
  bool stands = false;
};

void fill(const std::vector<double>& capacity, std::vector<PlainFlow>& flows) {
  for (PlainFlow& flow : flows) {
    flow.speed = 0;
    flow.stands = flow.uses.empty();
  }
  for (;;) {
    // How much further may all go?
    double step = std::numeric_limits<double>::infinity();
    std::vector<double> used(capacity.size()), growing(capacity.size());
    for (const PlainFlow& flow : flows) {
      for (const LinkUse& use : flow.uses) {
        used[use.link] += flow.speed * use.weight / whole;
        if (!flow.stands) growing[use.link] += static_cast<double>(use.weight) / whole;
      }
      if (!flow.stands) step = std::min(step, flow.limit - flow.speed);
    }
    for (std::size_t l = 0; l < capacity.size(); ++l)
      if (growing[l] > 0) step = std::min(step, (capacity[l] - used[l]) / growing[l]);
    if (step == std::numeric_limits<double>::infinity()) return;
    step = std::max(step, 0.0);
    for (PlainFlow& flow : flows)
      if (!flow.stands) flow.speed += step;
    for (PlainFlow& flow : flows) {
      if (flow.stands) continue;
      if (flow.speed >= flow.limit * (1 - 1e-12)) flow.stands = true;
      for (const LinkUse& use : flow.uses) {
        const double left = capacity[use.link] - used[use.link] - step * growing[use.link];
        if (left <= capacity[use.link] * 1e-9) flow.stands = true;
      }
    }
  }
}

TEST(FairShares, TwoShareALinkAndAThirdTakesWhatIsLeftElsewhere) {
  FairShares shares({1000, 600}, 1024);
  const std::uint32_t both =
      shares.add(std::vector<LinkUse>{{0, whole, false}, {1, whole, false}}, no_speed_limit);
  shares.settle();
  EXPECT_EQ(shares.speed(both), 600);
  const std::uint32_t second = shares.add(std::vector<LinkUse>{{1, whole, false}}, no_speed_limit);
  const std::uint32_t first = shares.add(std::vector<LinkUse>{{0, whole, false}}, no_speed_limit);
  shares.settle();
  EXPECT_EQ(shares.speed(both), 300);
  EXPECT_EQ(shares.speed(second), 300);
  EXPECT_EQ(shares.speed(first), 700);
  shares.remove(second);
  shares.settle();
  EXPECT_EQ(shares.speed(both), 500);
  EXPECT_EQ(shares.speed(first), 500);
}

// What is full changes when shares are settled, not before: so it does not matter which of those
// that happen at one moment is told first.
TEST(FairShares, AFlowAloneFillsItsSlowestLinkOnceSharesAreSettled) {
  FairShares shares({1000, 600, 1000}, 1024);
  const std::vector<LinkUse> way{{0, whole, false}, {1, whole, true}, {2, whole, false}};
  const std::uint32_t first = shares.add(way, no_speed_limit);
  EXPECT_FALSE(shares.is_full(1));
  shares.settle();
  EXPECT_EQ(shares.speed(first), 600);
  EXPECT_FALSE(shares.is_full(0));
  EXPECT_TRUE(shares.is_full(1));
  shares.remove(first);
  EXPECT_TRUE(shares.is_full(1));
  const std::uint32_t next = shares.add(way, 500);
  shares.settle();
  EXPECT_EQ(shares.speed(next), 500);
  EXPECT_FALSE(shares.is_full(1));
  shares.remove(next);
  // Alone when it was added, but not for long.
  const std::uint32_t third = shares.add(way, no_speed_limit);
  const std::uint32_t fourth = shares.add(std::vector<LinkUse>{{2, whole, false}}, no_speed_limit);
  shares.settle();
  EXPECT_EQ(shares.speed(third), 500);
  EXPECT_EQ(shares.speed(fourth), 500);
  // Gone before anybody saw it.
  shares.remove(third);
  shares.remove(fourth);
  shares.remove(shares.add(way, no_speed_limit));
  shares.settle();
  for (const std::uint32_t link : {0u, 1u, 2u}) EXPECT_FALSE(shares.is_full(link));
}

TEST(FairShares, AFlowTakesNoMoreThanItsLimit) {
  FairShares shares({1000}, 1024);
  const std::uint32_t slow = shares.add(std::vector<LinkUse>{{0, whole, false}}, 100);
  const std::uint32_t fast = shares.add(std::vector<LinkUse>{{0, whole, false}}, no_speed_limit);
  shares.settle();
  EXPECT_EQ(shares.speed(slow), 100);
  EXPECT_EQ(shares.speed(fast), 900);
}

TEST(FairShares, HalfOfASpreadFlowLoadsALinkHalf) {
  FairShares shares({1000, 500, 500}, 1024);
  const std::uint32_t spread = shares.add(
      std::vector<LinkUse>{{0, whole, false}, {1, whole / 2, false}, {2, whole / 2, false}},
      no_speed_limit);
  shares.settle();
  EXPECT_EQ(shares.speed(spread), 1000);
}

TEST(FairShares, LossCountsOnlyWhereSeveralMeetAndOneTurns) {
  FairShares shares({1024}, 512);
  const std::uint32_t turning = shares.add(std::vector<LinkUse>{{0, whole, true}}, no_speed_limit);
  shares.settle();
  EXPECT_EQ(shares.speed(turning), 1024);
  const std::uint32_t straight =
      shares.add(std::vector<LinkUse>{{0, whole, false}}, no_speed_limit);
  shares.settle();
  EXPECT_EQ(shares.speed(turning), 256);
  EXPECT_EQ(shares.speed(straight), 256);
}

// Flows come and go at random; after each change all speeds are those of the slow way.
TEST(FairShares, AreThoseOfProgressiveFilling) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Rng rng(seed);
    const std::size_t links = 4 + rng.below(30);
    std::vector<Speed> capacity(links);
    std::vector<double> plain_capacity(links);
    for (std::size_t l = 0; l < links; ++l) {
      capacity[l] = static_cast<Speed>((1 + rng.below(4)) << 30);
      plain_capacity[l] = static_cast<double>(capacity[l]);
    }
    FairShares shares(capacity, 1024);
    std::vector<PlainFlow> flows;
    std::vector<std::uint32_t> ids;
    for (int round = 0; round < 120; ++round) {
      if (!ids.empty() && rng.below(3) == 0) {
        const std::size_t gone = rng.below(ids.size());
        shares.remove(ids[gone]);
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(gone));
        flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(gone));
      } else {
        PlainFlow flow;
        for (std::uint32_t l = 0; l < links; ++l)
          if (rng.below(4) == 0)
            flow.uses.push_back({l, static_cast<std::uint32_t>(1 + rng.below(whole)), false});
        if (flow.uses.empty()) flow.uses.push_back({0, whole, false});
        const bool limited = rng.below(5) == 0;
        const Speed limit = limited ? Speed{1} << 28 : no_speed_limit;
        if (limited) flow.limit = static_cast<double>(limit);
        ids.push_back(shares.add(flow.uses, limit));
        flows.push_back(flow);
      }
      shares.settle();
      fill(plain_capacity, flows);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(shares.speed(ids[i])) / flows[i].speed, 1, 1e-3)
            << "seed " << seed << " round " << round << " flow " << i;
      }
    }
  }
}

}  // namespace
}  // namespace weft
