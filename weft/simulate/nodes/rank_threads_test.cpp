// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <weft/simulate/nodes/test_rig.hpp>

namespace weft {
namespace {

struct Work {
  Duration time;
  std::uint32_t number = 0;
  std::int64_t ended_ps = -1;
};

void* compute(void* given) {
  auto& work = *static_cast<Work*>(given);
  Processor& processor = Current::fabric()->processor;
  work.number = processor.thread();
  processor.compute(work.time);
  work.ended_ps = processor.now().in_ps();
  return given;
}

// The rank's threads, one for each work, are joined in order.
void run_all(std::vector<Work>& works) {
  RankThreads& threads = World::current_threads();
  std::vector<pthread_t> ids(works.size());
  for (std::size_t i = 0; i < works.size(); ++i)
    ASSERT_EQ(threads.add(compute, &works[i], nullptr, ids[i]), 0);
  for (std::size_t i = 0; i < works.size(); ++i) {
    RankThread* const thread = threads.find(ids[i]);
    ASSERT_NE(thread, nullptr);
    EXPECT_EQ(threads.join(*thread), &works[i]);
    EXPECT_EQ(threads.find(ids[i]), nullptr);
  }
}

// When a rank ends whose threads compute 1, 2, 3 and 4 ms, and when the threads do.
std::int64_t ends_us(bool own_threads, std::uint32_t cores, std::vector<std::int64_t>* each = {}) {
  Rig rig;
  rig.net = "torus:2x2";
  rig.ranks = 4;
  rig.setup.own_threads = own_threads;
  rig.setup.cores_per_rank = cores;
  const std::int64_t end_ps = rig.run([&](const Fabric& fabric) {
    std::vector<Work> works;
    for (int i = 1; i <= 4; ++i) works.push_back({Duration::ms(i)});
    run_all(works);
    for (std::size_t i = 0; i < works.size(); ++i) {
      EXPECT_EQ(works[i].number, i + 1);
      if (each != nullptr && fabric.self.index == 0) each->push_back(works[i].ended_ps / 1'000'000);
    }
  });
  return end_ps / 1'000'000;
}

TEST(RankThreads, TheLongestDecidesWithEnoughCores) {
  for (const bool own : {false, true}) {
    EXPECT_EQ(ends_us(own, 4), 4000);
    EXPECT_EQ(ends_us(own, 0), 4000);
  }
}

TEST(RankThreads, TakeTurnsWithFewerCores) {
  for (const bool own : {false, true}) {
    std::vector<std::int64_t> each;
    EXPECT_EQ(ends_us(own, 1, &each), 10'000);
    EXPECT_EQ(each, (std::vector<std::int64_t>{1000, 5000, 8000, 10'000}));
    EXPECT_EQ(ends_us(own, 2), 6000);
  }
}

TEST(RankThreads, WakeEachOtherInOrder) {
  Rig rig;
  rig.net = "torus:2";
  rig.ranks = 2;
  struct Shared {
    int word = 0;
    std::vector<std::uint32_t> woken;
  };
  rig.run([&](const Fabric& fabric) {
    RankThreads& threads = World::current_threads();
    Shared shared;
    const auto wait = [](void* given) -> void* {
      auto& all = *static_cast<Shared*>(given);
      RankThreads& own = World::current_threads();
      EXPECT_TRUE(own.park(&all.word, 1, Time::never(), "a test"));
      all.woken.push_back(own.current().number);
      return nullptr;
    };
    std::vector<pthread_t> ids(3);
    for (pthread_t& id : ids) ASSERT_EQ(threads.add(wait, &shared, nullptr, id), 0);
    fabric.processor.compute(Duration::us(5));
    EXPECT_EQ(threads.wake(&shared.word, 1, 2), 0u);  // Nobody waits for this bit.
    EXPECT_EQ(threads.wake(&shared.word, 1, 1), 1u);
    fabric.processor.compute(Duration::us(5));
    EXPECT_EQ(shared.woken, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(threads.wake(&shared.word, 9, 1), 2u);
    for (const pthread_t id : ids) threads.join(*threads.find(id));
    EXPECT_EQ(shared.woken, (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_FALSE(threads.park(&shared.word, 1, fabric.processor.now() + Duration::us(7), "a test"));
    EXPECT_EQ(fabric.processor.now(), Time::zero() + Duration::us(17));
  });
}

}  // namespace
}  // namespace weft
