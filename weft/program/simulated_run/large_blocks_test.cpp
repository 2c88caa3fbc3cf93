// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <weft/program/simulated_run/large_blocks.hpp>

namespace weft {
namespace {

constexpr std::size_t region = std::size_t{1} << 30;

std::size_t mappings() {
  std::ifstream file("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

bool is_zero(const std::byte* data, std::size_t size) {
  return std::all_of(data, data + size, [](std::byte b) { return b == std::byte{0}; });
}

// The number of resident pages.
std::size_t touched(std::byte* data, std::size_t size) {
  std::vector<unsigned char> pages((size + 4095) / 4096);
  EXPECT_EQ(::mincore(data, size, pages.data()), 0);
  return static_cast<std::size_t>(std::count_if(
      pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(LargeBlocks, AreApartAndAligned) {
  LargeBlocks blocks;
  ASSERT_TRUE(blocks.open(region));
  const std::vector<std::size_t> sizes = {4096,  4097,    16384,         65536,
                                          65537, 1 << 20, (1 << 20) + 1, 5'000'000};
  std::vector<std::byte*> made;
  for (const std::size_t size : sizes) {
    const LargeBlocks::Taken taken = blocks.take(size);
    ASSERT_NE(taken.data, nullptr);
    EXPECT_TRUE(taken.zero);
    EXPECT_TRUE(blocks.holds(taken.data));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(taken.data) % blocks.grain(), 0u);
    EXPECT_GE(blocks.size_of(taken.data), size);
    EXPECT_LE(blocks.size_of(taken.data), size + std::max(size / 8, blocks.grain()));
    std::memset(taken.data, static_cast<int>(made.size()) + 1, size);
    made.push_back(taken.data);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto wanted = static_cast<std::byte>(i + 1);
    EXPECT_TRUE(std::all_of(made[i], made[i] + sizes[i], [&](std::byte b) { return b == wanted; }));
    EXPECT_TRUE(blocks.give(made[i]));
  }
  EXPECT_EQ(blocks.taken(), 0u);
}

TEST(LargeBlocks, CostNothingUntilTouched) {
  LargeBlocks blocks;
  ASSERT_TRUE(blocks.open(region));
  const std::size_t before = mappings();
  std::vector<std::byte*> made;
  for (int i = 0; i < 1000; ++i) made.push_back(blocks.take(1 << 18).data);
  for (std::byte* data : made) EXPECT_EQ(touched(data, 1 << 18), 0u);
  made[500][4096] = std::byte{1};
  EXPECT_EQ(touched(made[500], 1 << 18), 1u);
  for (int i = 0; i < 1000; i += 2) EXPECT_TRUE(blocks.give(made[static_cast<std::size_t>(i)]));
  EXPECT_LE(mappings(), before + 2);
}

// A block that was used and freed: its next user learns that it has old contents. Beyond the few
// that keep their memory, blocks are returned to the system.
TEST(LargeBlocks, SayWhetherTheyAreZero) {
  LargeBlocks blocks;
  ASSERT_TRUE(blocks.open(region));
  constexpr std::size_t size = std::size_t{4} << 20;
  std::vector<std::byte*> made;
  for (int i = 0; i < 20; ++i) {
    made.push_back(blocks.take(size).data);
    std::memset(made.back(), 7, size);
  }
  for (std::byte* data : made) EXPECT_TRUE(blocks.give(data));
  std::size_t kept = 0, reused = 0;
  for (std::byte* data : made) kept += touched(data, size) * 4096;
  EXPECT_LE(kept, std::size_t{32} << 20);
  for (int i = 0; i < 20; ++i) {
    const LargeBlocks::Taken taken = blocks.take(size);
    reused += static_cast<std::size_t>(std::count(made.begin(), made.end(), taken.data));
    EXPECT_EQ(taken.zero, is_zero(taken.data, size));
  }
  EXPECT_EQ(reused, 20u);
}

TEST(LargeBlocks, RefuseWhatTheyDoNotKnow) {
  LargeBlocks blocks;
  EXPECT_EQ(blocks.take(1 << 20).data, nullptr);
  ASSERT_TRUE(blocks.open(std::size_t{16} << 20));
  std::byte* const block = blocks.take(1 << 20).data;
  EXPECT_EQ(blocks.take(std::size_t{16} << 20).data, nullptr);
  EXPECT_EQ(blocks.take(~std::size_t{0}).data, nullptr);
  EXPECT_FALSE(blocks.give(block + 8));
  EXPECT_FALSE(blocks.give(block + blocks.grain()));
  EXPECT_EQ(blocks.size_of(block + blocks.grain()), 0u);
  EXPECT_TRUE(blocks.give(block));
  EXPECT_FALSE(blocks.give(block));
}

TEST(LargeBlocks, TrimGivesBackTheRest) {
  LargeBlocks blocks;
  ASSERT_TRUE(blocks.open(region));
  std::byte* const block = blocks.take(1 << 20).data;
  std::memset(block, 1, 1 << 20);
  blocks.trim(block, 100'000);
  EXPECT_EQ(touched(block, 1 << 20), (100'000 / blocks.grain() + 1) * blocks.grain() / 4096);
  EXPECT_EQ(block[99'999], std::byte{1});
  EXPECT_EQ(blocks.size_of(block), std::size_t{1} << 20);
}

TEST(LargeBlocks, CopyLeavesUntouchedPagesAlone) {
  LargeBlocks blocks;
  ASSERT_TRUE(blocks.open(region));
  std::byte* const from = blocks.take(1 << 20).data;
  std::byte* const to = blocks.take(1 << 21).data;
  from[5000] = std::byte{9};
  from[(1 << 20) - 1] = std::byte{8};
  copy_touched(to, from, 1 << 20);
  EXPECT_EQ(std::memcmp(to, from, 1 << 20), 0);
  copy_touched(to, from, 5001);
  EXPECT_LE(touched(to, 8192), 2u);
}

TEST(LargeBlocks, GrainsMayBeMorePages) {
  constexpr std::size_t grain = std::size_t{1} << 20, size = std::size_t{64} << 20;
  LargeBlocks blocks;
  ASSERT_TRUE(blocks.open(std::size_t{64} << 30, grain));
  EXPECT_EQ(blocks.grain(), grain);
  std::vector<std::byte*> all;
  for (int i = 0; i < 500; ++i) {
    const LargeBlocks::Taken taken = blocks.take(size - 5);
    ASSERT_NE(taken.data, nullptr);
    EXPECT_TRUE(taken.zero);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(taken.data) % grain, 0u);
    EXPECT_EQ(blocks.size_of(taken.data), size);
    EXPECT_TRUE(all.empty() || taken.data >= all.back() + size);
    taken.data[size - 1] = std::byte{1};
    all.push_back(taken.data);
  }
  for (std::byte* const block : all) EXPECT_TRUE(blocks.give(block));
  EXPECT_EQ(blocks.taken(), 0u);
}

TEST(LargeBlocks, ServeManyThreads) {
  LargeBlocks blocks;
  ASSERT_TRUE(blocks.open(std::size_t{4} << 30));
  constexpr int count = 4;
  std::vector<std::thread> threads;
  std::vector<int> wrong(count);
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      const auto own = static_cast<std::byte>(t + 1);
      for (int i = 0; i < 2000; ++i) {
        const std::size_t size = 16384 + static_cast<std::size_t>(i * 37 % 300) * 1024;
        std::byte* const data = blocks.take(size).data;
        data[0] = data[size - 1] = own;
        if (data[0] != own || data[size - 1] != own) ++wrong[static_cast<std::size_t>(t)];
        if (!blocks.give(data)) ++wrong[static_cast<std::size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(count, 0));
  EXPECT_EQ(blocks.taken(), 0u);
}

}  // namespace
}  // namespace weft
