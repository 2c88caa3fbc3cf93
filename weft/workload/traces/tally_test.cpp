// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/traces/tally.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

using detail::CollectivePart;
using detail::Spread;
using detail::spread_of;
using detail::TrafficTally;
using Flows = std::vector<Flow>;

std::vector<std::uint32_t> first_ranks(std::uint32_t count) {
  std::vector<std::uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

// All members do the same once.
TrafficMatrix spread(const std::vector<std::uint32_t>& ranks, CollectivePart part) {
  TrafficTally tally;
  for (std::uint32_t m = 0; m < ranks.size(); ++m) {
    part.member = m;
    tally.add({7, ranks}, part);
  }
  auto made = std::move(tally).finish(1 + *std::max_element(ranks.begin(), ranks.end()));
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

Flows flows_of(const TrafficMatrix& m) {
  return {m.flows().begin(), m.flows().end()};
}

TEST(Tally, WithARootOverTheMembersOfACommunicator) {
  const std::vector<std::uint32_t> ranks = {5, 2, 3};
  EXPECT_EQ(flows_of(spread(ranks, {Spread::from_root, 0, 1, 300, 100})),
            (Flows{{2, 3, 100, 1}, {2, 5, 100, 1}}));
  EXPECT_EQ(flows_of(spread(ranks, {Spread::to_root, 0, 0, 100, 300})),
            (Flows{{2, 5, 100, 1}, {3, 5, 100, 1}}));
}

TEST(Tally, EvenSharesKeepEveryByte) {
  const std::vector<std::uint32_t> ranks = {0, 1, 2};
  // 10 bytes in three shares: 3, 3 and 4, of which a member's own stays with it.
  EXPECT_EQ(
      flows_of(spread(ranks, {Spread::evenly_sent, 0, 0, 10, 10})),
      (Flows{{0, 1, 3, 1}, {0, 2, 4, 1}, {1, 0, 3, 1}, {1, 2, 4, 1}, {2, 0, 3, 1}, {2, 1, 3, 1}}));
  EXPECT_EQ(flows_of(spread(ranks, {Spread::evenly_received, 0, 0, 4, 12})).size(), 6u);
  EXPECT_EQ(spread(ranks, {Spread::evenly_received, 0, 0, 4, 12}).bytes(), 24u);
}

TEST(Tally, LargeCommunicatorsForwardBlocks) {
  constexpr std::uint32_t n = 1500;
  const auto ranks = first_ranks(n);
  constexpr std::uint64_t block = 8;
  // Every member gets n - 1 foreign blocks.
  const TrafficMatrix gathered = spread(ranks, {Spread::evenly_received, 0, 0, block, block * n});
  EXPECT_EQ(gathered.flows().size(), n * 11u);
  EXPECT_EQ(gathered.bytes(), block * (n - 1) * n);
  EXPECT_EQ(gathered.from(3).front(), (Flow{3, 4, block, 1}));
  // A block travels as many hops as its distance has bits.
  std::uint64_t bits = 0;
  for (std::uint32_t d = 1; d < n; ++d) bits += static_cast<std::uint64_t>(std::popcount(d));
  const TrafficMatrix exchanged = spread(ranks, {Spread::evenly_sent, 0, 0, block * n, block * n});
  EXPECT_EQ(exchanged.bytes(), block * bits * n);
}

TEST(Tally, ReductionForAllDoubles) {
  const TrafficMatrix four = spread(first_ranks(4), {Spread::doubling, 0, 0, 16, 16});
  EXPECT_EQ(flows_of(four), (Flows{{0, 1, 16, 1},
                                   {0, 2, 16, 1},
                                   {1, 0, 16, 1},
                                   {1, 3, 16, 1},
                                   {2, 0, 16, 1},
                                   {2, 3, 16, 1},
                                   {3, 1, 16, 1},
                                   {3, 2, 16, 1}}));
  const TrafficMatrix three = spread(first_ranks(3), {Spread::doubling, 0, 0, 16, 0});
  EXPECT_EQ(flows_of(three), (Flows{{0, 1, 16, 1}, {0, 2, 16, 1}, {1, 0, 16, 1}, {2, 0, 16, 1}}));
}

TEST(Tally, ScanIsAChain) {
  EXPECT_EQ(flows_of(spread(first_ranks(3), {Spread::chain, 0, 0, 8, 8})),
            (Flows{{0, 1, 8, 1}, {1, 2, 8, 1}}));
}

TEST(Tally, NothingForOneOrForNoData) {
  EXPECT_TRUE(spread({0}, {Spread::evenly_sent, 0, 0, 8, 8}).flows().empty());
  EXPECT_TRUE(spread({0, 1}, {Spread::evenly_sent, 0, 0, 0, 0}).flows().empty());
  EXPECT_TRUE(spread({0, 1}, {Spread::none, 0, 0, 8, 8}).flows().empty());
  EXPECT_EQ(spread_of(0), Spread::none);     // barrier
  EXPECT_EQ(spread_of(17), Spread::none);    // a new handle
  EXPECT_EQ(spread_of(1000), Spread::none);  // of a later version
}

TEST(Tally, TooManyBytesAreRefused) {
  TrafficTally tally;
  for (int i = 0; i < 3; ++i) tally.add(0, 1, ~std::uint64_t{0});
  EXPECT_FALSE(std::move(tally).finish(2));
}

}  // namespace
}  // namespace weft
