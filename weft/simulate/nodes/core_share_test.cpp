// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <weft/simulate/nodes/core_share.hpp>

namespace weft {
namespace {

constexpr Duration slice = Duration::ms(1);

// When each of these works ends that begin together, in microseconds.
std::map<std::uint32_t, std::int64_t> ends(std::uint32_t cores, const std::vector<int>& works_us) {
  CoreShare share(cores, slice);
  for (std::uint32_t i = 0; i < works_us.size(); ++i)
    share.begin(i, Time::zero(), Duration::us(works_us[i]));
  std::map<std::uint32_t, std::int64_t> result;
  while (share.next() < Time::never()) {
    const Time now = share.next();
    while (const auto done = share.take_done(now)) result[*done] = now.in_ps() / 1'000'000;
  }
  return result;
}

using Ends = std::map<std::uint32_t, std::int64_t>;

TEST(CoreShare, EnoughCoresLetTheLongestDecide) {
  EXPECT_EQ(ends(4, {100, 700, 300, 200}), (Ends{{0, 100}, {1, 700}, {2, 300}, {3, 200}}));
  EXPECT_EQ(ends(0, {100, 700, 300}), (Ends{{0, 100}, {1, 700}, {2, 300}}));
}

TEST(CoreShare, WorkWithinASliceGoesInOrder) {
  EXPECT_EQ(ends(1, {100, 700, 300}), (Ends{{0, 100}, {1, 800}, {2, 1100}}));
  EXPECT_EQ(ends(2, {400, 400, 400, 400}), (Ends{{0, 400}, {1, 400}, {2, 800}, {3, 800}}));
}

TEST(CoreShare, LongWorkTakesTurns) {
  // One core, slices of 1 ms: 0 1 2 0 1 0.
  EXPECT_EQ(ends(1, {3000, 2000, 1000}), (Ends{{2, 3000}, {1, 5000}, {0, 6000}}));
  EXPECT_EQ(ends(2, {4000, 4000, 4000, 4000}), (Ends{{0, 7000}, {1, 7000}, {2, 8000}, {3, 8000}}));
}

TEST(CoreShare, WhoComesLaterWaitsForTheEndOfASlice) {
  CoreShare share(1, slice);
  share.begin(0, Time::zero(), Duration::ms(10));
  EXPECT_EQ(share.next(), Time::zero() + Duration::ms(10));
  share.begin(1, Time::zero() + Duration::us(2500), Duration::us(200));
  EXPECT_EQ(share.next(), Time::zero() + Duration::ms(3));
  EXPECT_FALSE(share.take_done(share.next()));
  EXPECT_EQ(share.take_done(Time::zero() + Duration::us(3200)), 1u);
  EXPECT_EQ(share.next(), Time::zero() + Duration::us(10'200));
  EXPECT_EQ(share.take_done(share.next()), 0u);
  EXPECT_EQ(share.next(), Time::never());
}

}  // namespace
}  // namespace weft
