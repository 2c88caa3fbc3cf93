// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/conn/window.hpp>

namespace weft::conn {
namespace {

SendWindow::Message message(std::size_t size, std::uint64_t cookie) {
  SendWindow::Message one;
  one.data = {nullptr, size};
  one.cookie = cookie;
  return one;
}

TEST(SendWindow, StopsWhenFullAndRepeats) {
  Options options;
  options.chunk = 10;
  options.pair_window = 25;
  SendWindow window;
  window.add(message(32, 7), options.chunk);
  window.add(message(0, 8), options.chunk);
  Head head;
  std::vector<std::size_t> sizes;
  while (window.can_send(options)) sizes.push_back(window.send(options.chunk, head).data_size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{10, 10}));
  EXPECT_TRUE(window.acknowledged(1, options.chunk).empty());
  EXPECT_TRUE(window.can_send(options));
  EXPECT_EQ(window.send(options.chunk, head).data_size(), 10u);
  EXPECT_EQ(head.offset, 20u);
  EXPECT_EQ(window.repeat(), 2u);
  EXPECT_EQ(window.send(options.chunk, head).data_size(), 10u);
  EXPECT_EQ(head.number, 1u);
  // What was sent before has arrived after all.
  const auto through = window.acknowledged(4, options.chunk);
  ASSERT_EQ(through.size(), 0u + 1);
  EXPECT_EQ(through[0].cookie, 7u);
  EXPECT_EQ(window.send(options.chunk, head).data_size(), 0u);
  EXPECT_EQ(head.number, 4u);
  EXPECT_TRUE(window.acknowledged(9, options.chunk).empty());  // Never given.
  EXPECT_EQ(window.acknowledged(5, options.chunk).size(), 1u);
  EXPECT_TRUE(window.empty());
}

TEST(ReceiveWindow, TakesEachOnce) {
  ReceiveWindow window;
  EXPECT_TRUE(window.accept(1));
  EXPECT_FALSE(window.accept(1));
  EXPECT_EQ(window.next(), 0u);
  EXPECT_TRUE(window.accept(0));
  EXPECT_EQ(window.next(), 2u);
  EXPECT_FALSE(window.accept(0));
}

TEST(ReceiveWindow, HearsControlsInOrder) {
  ReceiveWindow window;
  EXPECT_TRUE(window.accept(2));
  window.hold(2, Control::open);
  EXPECT_FALSE(window.next_control());
  EXPECT_TRUE(window.accept(0));
  window.hold(0, Control::decline);
  EXPECT_EQ(window.next_control(), Control::decline);
  EXPECT_FALSE(window.next_control());
  EXPECT_TRUE(window.accept(1));
  EXPECT_EQ(window.next_control(), Control::open);
}

}  // namespace
}  // namespace weft::conn
