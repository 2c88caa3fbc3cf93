// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <gtest/gtest.h>

#include <weft/program/rank_channel/channel.hpp>

namespace weft {
namespace {

std::vector<std::byte> bytes_of(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + size);
  return bytes;
}

// Shorter than its length, as long as one read, and longer than what a socket holds.
TEST(RankChannel, PacketsComeWhole) {
  RankChannel here, there;
  ASSERT_TRUE(RankChannel::make_pair(here, there));
  const std::size_t sizes[] = {0, 1, 4087, 4088, 4089, 100'000, 3'000'000};
  std::thread echo([&] {
    std::vector<std::byte> packet;
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      ASSERT_TRUE(there.receive(packet));
      ASSERT_TRUE(there.send(packet));
    }
  });
  std::vector<std::byte> answer;
  for (const std::size_t size : sizes) {
    ASSERT_TRUE(here.send(bytes_of(size)));
    ASSERT_TRUE(here.receive(answer));
    EXPECT_EQ(answer, bytes_of(size)) << size;
  }
  echo.join();
}

TEST(RankChannel, NoticesThatTheOtherSideIsGone) {
  RankChannel here, there;
  ASSERT_TRUE(RankChannel::make_pair(here, there));
  there.close();
  std::vector<std::byte> packet;
  EXPECT_FALSE(here.receive(packet));
  EXPECT_FALSE(here.send(bytes_of(10)));
}

}  // namespace
}  // namespace weft
