// SPDX-License-Identifier: Apache-2.0
// A heap beside the slow obvious way: a sorted set.
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/parallel/des/time_heap.hpp>

namespace weft {
namespace {

TEST(TimeHeap, OfEquallyEarlyNumbersTheLowestComesFirst) {
  TimeHeap heap;
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.first_at(), TimeHeap::never);
  heap.set(7, 100);
  heap.set(3, 100);
  heap.set(9, 50);
  heap.set(9, 100);
  EXPECT_EQ(heap.first_at(), 100);
  EXPECT_EQ(heap.pop(), 3u);
  EXPECT_EQ(heap.pop(), 7u);
  EXPECT_EQ(heap.at(7), TimeHeap::never);
  heap.set(9, TimeHeap::never);
  EXPECT_TRUE(heap.empty());
}

TEST(TimeHeap, SomeAreSetToTheMomentThatIsDueOrLeaveIt) {
  TimeHeap heap;
  for (std::uint32_t id = 100; id < 200; ++id) heap.set(id, id % 10 == 0 ? 60 : 50);
  EXPECT_EQ(heap.pop(), 101u);
  heap.set(7, 50);
  EXPECT_EQ(heap.first(), 7u);
  heap.set(100, 50);
  heap.set(102, 70);
  heap.set(103, TimeHeap::never);
  heap.set(5, 40);
  EXPECT_EQ(heap.at(104), 50);
  for (const std::uint32_t next : {5u, 7u, 100u, 104u}) EXPECT_EQ(heap.pop(), next);
  heap.set(104, 50);
  EXPECT_EQ(heap.pop(), 104u);
  for (int i = 0; i < 86; ++i) EXPECT_NE(heap.pop() % 10, 0u);
  EXPECT_EQ(heap.first_at(), 60);
  for (std::uint32_t id = 110; id < 200; id += 10) EXPECT_EQ(heap.pop(), id);
  EXPECT_EQ(heap.pop(), 102u);
  EXPECT_TRUE(heap.empty());
}

// Many at few moments, so that numbers decide often.
TEST(TimeHeap, GivesWhatASortedSetGives) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const std::uint64_t numbers = 1 + rng.below(300);
    const std::uint64_t moments = 1 + rng.below(seed % 2 == 0 ? 1000 : 5);
    TimeHeap heap;
    std::map<std::uint32_t, std::int64_t> times;
    std::set<std::pair<std::int64_t, std::uint32_t>> sorted;
    for (int step = 0; step < 5000; ++step) {
      const auto id = static_cast<std::uint32_t>(rng.below(numbers));
      const std::uint64_t what = rng.below(8);
      if (what == 0 || (what < 4 && sorted.empty())) {
        heap.set(id, TimeHeap::never);
        if (times.contains(id)) sorted.erase({times[id], id});
        times.erase(id);
      } else if (what < 4) {
        ASSERT_EQ(heap.pop(), sorted.begin()->second) << "seed " << seed << " step " << step;
        times.erase(sorted.begin()->second);
        sorted.erase(sorted.begin());
      } else {
        const auto at = static_cast<std::int64_t>(rng.below(moments));
        heap.set(id, at);
        if (times.contains(id)) sorted.erase({times[id], id});
        times[id] = at;
        sorted.insert({at, id});
      }
      ASSERT_EQ(heap.empty(), sorted.empty());
      if (sorted.empty()) continue;
      ASSERT_EQ(heap.first_at(), sorted.begin()->first);
      ASSERT_EQ(heap.first(), sorted.begin()->second);
      ASSERT_EQ(heap.at(id), times.contains(id) ? times[id] : TimeHeap::never);
    }
  }
}

}  // namespace
}  // namespace weft
