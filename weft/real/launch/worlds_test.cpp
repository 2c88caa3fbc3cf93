// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/worlds.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace weft::launch {
namespace {

std::vector<std::uint32_t> firsts(const std::vector<World*>& worlds) {
  std::vector<std::uint32_t> all;
  for (const World* const world : worlds) all.push_back(world->first);
  std::sort(all.begin(), all.end());
  return all;
}
using Firsts = std::vector<std::uint32_t>;

TEST(Worlds, FollowEachOther) {
  Worlds worlds(3);
  World& second = worlds.add(2, 1);
  World& third = worlds.add(1, 4);
  EXPECT_EQ(worlds.ranks(), 6U);
  EXPECT_EQ(second.first, 3U);
  EXPECT_EQ(third.first, 5U);
  EXPECT_EQ(&worlds.of(4), &second);
  EXPECT_EQ(&worlds.of(5), &third);
  EXPECT_EQ(worlds.of(2).first, 0U);
  EXPECT_EQ(worlds.of(0).life, World::Life::running);
  EXPECT_EQ(second.life, World::Life::starting);
}

TEST(Worlds, AreTogetherWhileOneRankSaysSo) {
  Worlds worlds(2);
  World& child = worlds.add(2, 0);
  World& grandchild = worlds.add(1, 3);
  EXPECT_EQ(firsts(worlds.together(worlds.of(0))), (Firsts{0, 2, 4}));
  worlds.connect(1, {2});  // The parents say so, too.
  worlds.connect(2, {});
  EXPECT_EQ(firsts(worlds.together(child)), (Firsts{0, 2, 4}));
  worlds.connect(1, {});
  EXPECT_EQ(firsts(worlds.together(worlds.of(0))), (Firsts{0}));
  EXPECT_EQ(firsts(worlds.together(child)), (Firsts{2, 4}));
  worlds.forget(4);
  EXPECT_EQ(firsts(worlds.together(grandchild)), (Firsts{4}));
}

TEST(Worlds, NonsenseConnectsNothing) {
  Worlds worlds(2);
  worlds.connect(0, {77});
  EXPECT_EQ(firsts(worlds.together(worlds.of(0))), (Firsts{0}));
}

TEST(Worlds, KnowWhenAllThatAreConnectedAreDone) {
  Worlds worlds(2);
  World& child = worlds.add(1, 0);
  worlds.connect(0, {2});
  worlds.connect(2, {0});
  const auto together = worlds.together(child);
  EXPECT_FALSE(worlds.connected_are(together, [](std::uint32_t rank) { return rank == 2; }));
  EXPECT_TRUE(worlds.connected_are(together, [](std::uint32_t rank) { return rank != 1; }));
  worlds.forget(0);
  EXPECT_TRUE(worlds.connected_are(together, [](std::uint32_t rank) { return rank == 2; }));
}

}  // namespace
}  // namespace weft::launch
