// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include <weft/message/conn/layout.hpp>

namespace weft::conn {
namespace {

std::vector<std::uint32_t> even(std::uint32_t groups, std::uint32_t size) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < groups * size; ++i) list.push_back(i / size);
  return list;
}

// The numbers of the Phoenix paper's rule: all of the own switch, one of each other.
TEST(Layout, CountsAsThePaper) {
  EXPECT_EQ(Layout(even(4, 4)).neighbours_most(), 6u);
  EXPECT_EQ(Layout(even(8, 16)).neighbours_most(), 22u);
}

TEST(Layout, IsMutual) {
  const std::vector<std::uint32_t> uneven = {7, 7, 7, 2, 2, 9, 7, 2, 2, 2, 9, 4};
  const Layout layout(uneven);
  std::size_t fewest = uneven.size();
  for (std::uint32_t a = 0; a < layout.ranks(); ++a) {
    const std::vector<RankId> near = layout.neighbours_of(RankId(a));
    fewest = std::min(fewest, near.size());
    EXPECT_LE(near.size(), layout.neighbours_most());
    for (std::uint32_t b = 0; b < layout.ranks(); ++b) {
      const bool listed = std::find(near.begin(), near.end(), RankId(b)) != near.end();
      EXPECT_EQ(listed, layout.neighbours(RankId(a), RankId(b))) << a << " " << b;
      EXPECT_EQ(layout.neighbours(RankId(a), RankId(b)), layout.neighbours(RankId(b), RankId(a)));
    }
  }
  EXPECT_EQ(layout.neighbours_least(), fewest);
}

// Everybody has somebody in every other group, so that one relay is enough.
TEST(Layout, ReachesEveryGroup) {
  const Layout layout({0, 0, 0, 1, 1, 2, 0, 1, 1, 1, 2, 3});
  for (std::uint32_t a = 0; a < layout.ranks(); ++a) {
    for (std::uint32_t g = 0; g < layout.groups().count(); ++g) {
      const bool alone = layout.group(RankId(a)) == g && layout.groups().members(g).size() == 1;
      EXPECT_EQ(layout.neighbours_in(RankId(a), g).empty(), alone);
    }
  }
}

TEST(Layout, ShortcutsForAll) {
  EXPECT_FALSE(Layout(even(4, 4)).reaches_all(8));  // 6 and 8 of 15.
  EXPECT_TRUE(Layout(even(4, 4)).reaches_all(9));
  EXPECT_FALSE(Layout(even(8, 8)).reaches_all(16));
  EXPECT_TRUE(Layout(even(1, 4)).reaches_all(0));
  EXPECT_TRUE(Layout(even(1, 1)).reaches_all(0));
  // The two of a group know each other and five of the ten.
  EXPECT_FALSE(Layout({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}).reaches_all(4));
  EXPECT_TRUE(Layout({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}).reaches_all(5));
}

TEST(Layout, KnowsWhoRelays) {
  const Layout squares(even(2, 2)), all(even(1, 4)), star({0, 1, 1});
  for (std::uint32_t r = 0; r < 4; ++r) {
    EXPECT_TRUE(squares.relays(RankId(r)));
    EXPECT_FALSE(all.relays(RankId(r)));
  }
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_FALSE(star.relays(RankId(r)));
}

TEST(Layout, CutsGroupsThatAreTooLarge) {
  const auto cut = Layout::fit(even(1, 64), 24);
  ASSERT_TRUE(cut);
  EXPECT_LE(cut->neighbours_most(), 24u);
  EXPECT_EQ(cut->ranks(), 64u);
  EXPECT_FALSE(Layout::fit(even(1, 64), 13));
  EXPECT_TRUE(Layout::fit(even(1, 64), 14));
  EXPECT_EQ(Layout::fit(even(4, 4), 6)->groups().count(), 4u);
}

}  // namespace
}  // namespace weft::conn
