// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/base/groups.hpp>

namespace weft {
namespace {

const std::vector<std::uint32_t> uneven = {7, 7, 2, 7, 2, 9};

TEST(Groups, AreNumberedByTheirLowestMembers) {
  const Groups groups(uneven);
  EXPECT_EQ(groups.total(), 6u);
  ASSERT_EQ(groups.count(), 3u);
  EXPECT_EQ(groups.group(0), 0u);
  EXPECT_EQ(groups.group(4), 1u);
  EXPECT_EQ(groups.group(5), 2u);
  EXPECT_EQ(groups.number(3), 2u);
  EXPECT_EQ(groups.size(1), 2u);
  EXPECT_EQ(std::vector(groups.members(0).begin(), groups.members(0).end()),
            (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(Groups, NumbersBeyondAGroupBeginAnew) {
  const Groups groups(uneven);
  EXPECT_EQ(groups.pick(0, 1), 2u);
  EXPECT_EQ(groups.pick(1, 1), 4u);
  EXPECT_EQ(groups.pick(3, 1), 2u);
  EXPECT_EQ(groups.pick(3, 2), 5u);
}

TEST(Groups, MayBeNone) {
  const Groups groups({});
  EXPECT_EQ(groups.total(), 0u);
  EXPECT_EQ(groups.count(), 0u);
}

}  // namespace
}  // namespace weft
