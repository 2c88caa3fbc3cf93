// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>

#include <weft/message/mp/header.hpp>

namespace weft::mp {
namespace {

void expect_same(const Header& a, const Header& b) {
  EXPECT_EQ(a.verb, b.verb);
  EXPECT_EQ(a.internal, b.internal);
  EXPECT_EQ(a.context, b.context);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.tag, b.tag);
  EXPECT_EQ(a.credit, b.credit);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.sender, b.sender);
  EXPECT_EQ(a.receiver, b.receiver);
  EXPECT_EQ(a.key, b.key);
}

TEST(Header, ComesBackAsItWas) {
  Header header;
  expect_same(decode(encode(header)), header);
  header = {.verb = verb_last,
            .internal = 1,
            .context = 0xfedcba98u,
            .source = std::numeric_limits<std::int32_t>::min(),
            .tag = -1,
            .credit = 0x89abcdefu,
            .sequence = 0xffffffffu,
            .size = 0x8123456789abcdefu,
            .sender = 0xf1e2d3c4b5a69788u,
            .receiver = 1,
            .key = ~std::uint64_t{0}};
  expect_same(decode(encode(header)), header);
}

TEST(Header, NeedsThreeWordsForASmallMessage) {
  Header header{.verb = Verb::eager, .context = 7, .source = 3, .tag = 5, .credit = 72};
  header.sequence = 9;
  const FrameHead head = encode(header);
  for (std::size_t i = 24; i < head.size(); ++i) EXPECT_EQ(head[i], std::byte{0}) << i;
}

TEST(Header, LeavesTheFirstBytesHighestBitToTheLayerBelow) {
  const FrameHead head = encode({.verb = verb_last});
  EXPECT_EQ(head[0] & std::byte{0x80}, std::byte{0});
}

}  // namespace
}  // namespace weft::mp
