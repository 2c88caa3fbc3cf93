// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/message/mp/members.hpp>

namespace weft::mp {
namespace {

TEST(Members, AllAreThemselves) {
  const Members all = Members::all(1000);
  EXPECT_EQ(all.size(), 1000);
  EXPECT_EQ(all[999], RankId(999));
  EXPECT_EQ(all.find(RankId(17)), 17);
  EXPECT_FALSE(all.find(RankId(1000)));
}

TEST(Members, AreTheListTheyWereMadeOf) {
  const Rng rng(3);
  std::uint64_t at = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<RankId> list;
    const auto count = rng.at(at++) % 40;
    std::vector<bool> used(4000);
    std::uint32_t value = 0, step = 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (rng.at(at++) % 4 == 0) step = static_cast<std::uint32_t>(rng.at(at++) % 5);
      value = rng.at(at++) % 5 == 0 ? static_cast<std::uint32_t>(rng.at(at++) % 4000)
                                    : (value + step) % 4000;
      if (used[value]) continue;
      used[value] = true;
      list.push_back(RankId(value));
    }
    const Members members = Members::of(list);
    ASSERT_EQ(members.size(), static_cast<int>(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(members[static_cast<int>(i)], list[i]);
      EXPECT_EQ(members.find(list[i]), static_cast<int>(i));
    }
    for (std::uint32_t r = 0; r < 4000; ++r) {
      EXPECT_EQ(members.find(RankId(r)).has_value(), used[r]);
    }
  }
}

TEST(Members, KnowWhetherTheyAreAmongSomeRanks) {
  const Members range = Members::range(5, 3);
  EXPECT_EQ(range.size(), 3);
  EXPECT_EQ(range[2], RankId(7));
  EXPECT_TRUE(range.within(5, 3));
  EXPECT_TRUE(range.within(0, 8));
  EXPECT_FALSE(range.within(0, 7));
  EXPECT_FALSE(range.within(6, 10));
  const std::array<RankId, 4> mixed = {RankId(9), RankId(1), RankId(4), RankId(3)};
  EXPECT_TRUE(Members::of(mixed).within(1, 9));
  EXPECT_FALSE(Members::of(mixed).within(2, 9));
  EXPECT_FALSE(Members::of(mixed).within(1, 8));
  EXPECT_TRUE(Members().within(0, 0));
}

}  // namespace
}  // namespace weft::mp
