// SPDX-License-Identifier: Apache-2.0
// A queue beside the slow obvious way: a sorted set.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/parallel/des/time_queue.hpp>

namespace weft {
namespace {

TEST(TimeQueue, OfEquallyEarlyNumbersTheLowestComesFirst) {
  TimeQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.first_at(), TimeQueue::never);
  queue.set(7, 100);
  queue.set(3, 100);
  queue.set(9, 50);
  queue.set(9, 100);
  EXPECT_EQ(queue.first_at(), 100);
  EXPECT_EQ(queue.pop(), 3u);
  EXPECT_EQ(queue.pop(), 7u);
  EXPECT_EQ(queue.at(7), TimeQueue::never);
  queue.set(9, TimeQueue::never);
  EXPECT_TRUE(queue.empty());
}

TEST(TimeQueue, SomeAreSetToTheMomentThatIsDueOrLeaveIt) {
  TimeQueue queue;
  for (std::uint32_t id = 100; id < 200; ++id) queue.set(id, id % 10 == 0 ? 60 : 50);
  EXPECT_EQ(queue.pop(), 101u);
  queue.set(7, 50);
  queue.set(100, 50);
  queue.set(102, 70);
  queue.set(103, TimeQueue::never);
  EXPECT_EQ(queue.at(104), 50);
  for (const std::uint32_t next : {7u, 100u, 104u}) EXPECT_EQ(queue.pop(), next);
  queue.set(104, 50);
  EXPECT_EQ(queue.pop(), 104u);
  for (int i = 0; i < 86; ++i) EXPECT_NE(queue.pop() % 10, 0u);
  EXPECT_EQ(queue.first_at(), 60);
  for (std::uint32_t id = 110; id < 200; id += 10) EXPECT_EQ(queue.pop(), id);
  EXPECT_EQ(queue.pop(), 102u);
  EXPECT_TRUE(queue.empty());
}

TEST(TimeQueue, TellsOneThatComesSoon) {
  TimeQueue queue;
  EXPECT_EQ(queue.soon(), TimeQueue::none);
  queue.set(7, 100);
  queue.set(3, 90);
  queue.set(9, 1 << 20);
  EXPECT_EQ(queue.soon(), 3u);
  EXPECT_EQ(queue.pop(), 3u);
  EXPECT_EQ(queue.soon(), 7u);
  queue.set(5, 90);
  EXPECT_EQ(queue.soon(), 5u);
  for (const std::uint32_t next : {5u, 7u}) EXPECT_EQ(queue.pop(), next);
  EXPECT_EQ(queue.soon(), 9u);
  EXPECT_EQ(queue.pop(), 9u);
  EXPECT_EQ(queue.soon(), TimeQueue::none);
}

TEST(TimeQueue, ATimeThatIsSetTwiceComesOnce) {
  TimeQueue queue;
  for (int i = 0; i < 10'000; ++i) {  // Enough to take out what is void.
    queue.set(5, 300);
    queue.set(5, 400 + i % 3);
  }
  queue.set(5, 300);
  queue.set(6, 300);
  queue.go_on_to(200);
  EXPECT_EQ(queue.first_at(), 300);
  EXPECT_EQ(queue.pop(), 5u);
  queue.set(5, 301);
  EXPECT_EQ(queue.pop(), 6u);
  EXPECT_EQ(queue.first_at(), 301);
  EXPECT_EQ(queue.pop(), 5u);
  EXPECT_EQ(queue.first_at(), TimeQueue::never);
}

TEST(TimeQueueDeathTest, NothingComesBeforeThePresent) {
  TimeQueue queue;
  queue.set(1, 10);
  queue.pop();
  EXPECT_DEATH(queue.set(1, 9), "moment_");
}

TEST(TimeQueueDeathTest, ThePresentDoesNotPassWhatIsDue) {
  TimeQueue queue;
  for (const std::uint32_t number : {1u, 2u}) queue.set(number, 10);
  queue.pop();
  EXPECT_DEATH(queue.go_on_to(25), "moment_");
}

// Two queues in turn, in one of which much is due far ahead: each look costs the same. Looking at
// all of that at each event, this would take minutes.
TEST(TimeQueue, WhatIsFarAheadIsNotLookedAtEachTime) {
  constexpr std::uint32_t many = 200'000;
  TimeQueue queue, other;
  for (std::uint32_t number = 0; number < many; ++number) queue.set(number, 1'000'000'000 + number);
  for (std::int64_t now = 1; now < many; ++now) {
    (now % 2 == 0 ? queue : other).set(many, now);
    ASSERT_EQ(std::min(queue.first_at(), other.first_at()), now);
    queue.go_on_to(now);
    other.go_on_to(now);
    ASSERT_EQ((now % 2 == 0 ? queue : other).pop(), many);
  }
  EXPECT_EQ(queue.first_at(), 1'000'000'000);
}

// Many at few moments, so that numbers decide often; or far apart, and moved often.
TEST(TimeQueue, GivesWhatASortedSetGives) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    const std::uint64_t numbers = 1 + rng.below(seed % 4 == 0 ? 10'000 : 300);
    const std::uint64_t moments = std::uint64_t{1} << rng.below(seed % 2 == 0 ? 40 : 4);
    TimeQueue queue;
    std::map<std::uint32_t, std::int64_t> times;
    std::set<std::pair<std::int64_t, std::uint32_t>> sorted;
    std::int64_t now = 0;
    for (int step = 0; step < 8000; ++step) {
      const auto id = static_cast<std::uint32_t>(rng.below(numbers));
      const std::uint64_t what = rng.below(8);
      if (what == 0 || (what < 4 && sorted.empty())) {
        queue.set(id, TimeQueue::never);
        if (times.contains(id)) sorted.erase({times[id], id});
        times.erase(id);
      } else if (what < 3) {
        now = sorted.begin()->first;
        ASSERT_EQ(queue.pop(), sorted.begin()->second) << "seed " << seed << " step " << step;
        times.erase(sorted.begin()->second);
        sorted.erase(sorted.begin());
      } else if (what == 3) {
        if (sorted.begin()->first == now) continue;
        now += static_cast<std::int64_t>(
            rng.below(static_cast<std::uint64_t>(sorted.begin()->first - now) + 1));
        queue.go_on_to(now);
      } else {
        const auto at = now + static_cast<std::int64_t>(rng.below(moments));
        queue.set(id, at);
        if (times.contains(id)) sorted.erase({times[id], id});
        times[id] = at;
        sorted.insert({at, id});
      }
      ASSERT_EQ(queue.empty(), sorted.empty());
      ASSERT_EQ(queue.at(id), times.contains(id) ? times[id] : TimeQueue::never);
      // Not always: the first is found when it is asked for.
      if (rng.below(2) == 0) continue;
      ASSERT_EQ(queue.first_at(), sorted.empty() ? TimeQueue::never : sorted.begin()->first);
    }
  }
}

}  // namespace
}  // namespace weft
