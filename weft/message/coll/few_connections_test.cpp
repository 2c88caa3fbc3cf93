// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/coll/few_connections.hpp>

namespace weft {
namespace {

TEST(Bundling, FollowsFromConnections) {
  const conn::Layout layout({0, 0, 1, 1, 2, 2});  // 3 neighbours of 5 others.
  conn::Options options;
  options.mode = conn::Mode::full;
  EXPECT_EQ(bundling_of(layout, options), coll::Bundling::nothing);
  options.mode = conn::Mode::managed;
  options.shortcuts = 1;
  EXPECT_EQ(bundling_of(layout, options), coll::Bundling::most_blocks);
  options.shortcuts = 2;
  EXPECT_EQ(bundling_of(layout, options), coll::Bundling::short_blocks);
}

}  // namespace
}  // namespace weft
