// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/base/pack.hpp>

namespace weft {
namespace {

TEST(Pack, WhatWasPutComesBackInOrder) {
  Packer packer;
  EXPECT_TRUE(packer.empty());
  packer.put(std::uint8_t{7});
  packer.put(std::int64_t{-5});
  packer.put_text("rank 3");
  packer.put_list(std::vector<std::uint32_t>{1, 2, 3});
  packer.put_list(std::vector<double>{});
  packer.put_text("");
  const std::vector<std::byte> bytes = packer.take();
  EXPECT_TRUE(packer.empty());
  Unpacker unpacker(bytes);
  EXPECT_EQ(unpacker.take<std::uint8_t>(), 7);
  EXPECT_EQ(unpacker.take<std::int64_t>(), -5);
  EXPECT_EQ(unpacker.take_text(), "rank 3");
  EXPECT_EQ(unpacker.take_list<std::uint32_t>(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_TRUE(unpacker.take_list<double>().empty());
  EXPECT_EQ(unpacker.take_text(), "");
  EXPECT_TRUE(unpacker.empty());
}

TEST(PackDeathTest, TooFewBytesAreNoValue) {
  Packer packer;
  packer.put(std::uint64_t{1'000'000});
  const std::vector<std::byte> bytes = packer.take();
  EXPECT_DEATH(Unpacker(bytes).take_list<int>(), "");
  EXPECT_DEATH(Unpacker(std::span(bytes).first(3)).take<std::uint64_t>(), "");
}

}  // namespace
}  // namespace weft
