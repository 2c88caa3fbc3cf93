// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/apply.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace weft::locality {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20;

struct Block {
  Block()
      : data(::mmap(nullptr, block_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0)) {}
  ~Block() { ::munmap(data, block_size); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* data;
};

TEST(Bind, KeepsTheProcessOnItsProcessors) {
  const std::vector<int> before = cpus_of_this_process();
  ASSERT_FALSE(before.empty());
  const std::array<int, 1> last = {before.back()};
  ASSERT_TRUE(bind_this_process(last));
  EXPECT_EQ(cpus_of_this_process(), std::vector<int>(last.begin(), last.end()));
  ASSERT_TRUE(bind_this_process(before));
  EXPECT_EQ(cpus_of_this_process(), before);
}

TEST(Bind, DoesNothingWithoutProcessors) {
  const std::vector<int> before = cpus_of_this_process();
  ASSERT_TRUE(bind_this_process({}));
  EXPECT_EQ(cpus_of_this_process(), before);
}

TEST(Bind, SaysWhichProcessorsThereAreNot) {
  const std::array<int, 2> absent = {16'000, 16'001};
  const Status bound = bind_this_process(absent);
  ASSERT_FALSE(bound);
  EXPECT_TRUE(bound.error().message().starts_with("cannot run on processors 16000-16001: "));
  EXPECT_FALSE(bind_this_process(std::array<int, 1>{1'000'000}));
  EXPECT_FALSE(bind_this_process(std::array<int, 1>{-1}));
}

TEST(Memory, IsOnNoNodeBeforeItIsTouched) {
  const Block block;
  ASSERT_NE(block.data, MAP_FAILED);
  EXPECT_EQ(node_of_memory(block.data), -1);
  static_cast<char*>(block.data)[0] = 1;
  // A system without NUMA, or one that forbids the question, reports -1.
  EXPECT_GE(node_of_memory(block.data), -1);
  EXPECT_EQ(node_of_memory(nullptr), -1);
}

TEST(Memory, IsTakenFromThePreferredNode) {
  const int here = [] {
    const auto byte = std::make_unique<char>('x');
    return node_of_memory(byte.get());
  }();
  if (here < 0) GTEST_SKIP() << "this system does not tell nodes of memory";
  const Block block;
  prefer_node(block.data, block_size, here);
  static_cast<char*>(block.data)[block_size / 2] = 1;
  EXPECT_EQ(node_of_memory(static_cast<char*>(block.data) + block_size / 2), here);
}

TEST(Memory, StaysUsableWhateverIsPreferred) {
  const Block block;
  for (const int node : {-1, 0, 1023, 100'000}) prefer_node(block.data, block_size, node);
  prefer_node(static_cast<char*>(block.data) + 1, 5, 0);
  prefer_node(block.data, 0, 0);
  std::fill_n(static_cast<char*>(block.data), block_size, 'x');
  EXPECT_EQ(static_cast<char*>(block.data)[block_size - 1], 'x');
}

}  // namespace
}  // namespace weft::locality
