// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/packet_sizes.hpp"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

TEST(PacketSizes, OneSizeDrawsNothing) {
  const auto sizes = PacketSizes::parse("32");
  ASSERT_TRUE(sizes);
  Rng rng(1), untouched(1);
  EXPECT_EQ(sizes->draw(rng), 32);
  EXPECT_EQ(rng.next(), untouched.next());
  EXPECT_EQ(sizes->mean(), 32.0);
}

TEST(PacketSizes, MixKeepsItsWeights) {
  const auto sizes = PacketSizes::parse("1:0.75, 32:0.25");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->smallest(), 1);
  EXPECT_EQ(sizes->largest(), 32);
  EXPECT_EQ(sizes->mean(), 8.75);
  SCOPED_TRACE(replay_text(test_seed()));
  Rng rng = Rng(test_seed()).stream("mix");
  std::map<int, int> seen;
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i) ++seen[sizes->draw(rng)];
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NEAR(seen[1], 0.75 * draws, 5 * std::sqrt(draws * 0.75 * 0.25));
}

TEST(PacketSizes, WeightsNeedNotAddUpToOne) {
  EXPECT_EQ(PacketSizes::parse("2:3,4:1")->mean(), 2.5);
}

TEST(PacketSizes, RefusesNonsense) {
  for (const char* text : {"", "0", "-3", "x", "1,32", "1:0.5,", "1:0,2:1", "1:x", "2000000"})
    EXPECT_FALSE(PacketSizes::parse(text)) << text;
}

}  // namespace
}  // namespace weft
