// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <weft/parallel/fiber/fiber.hpp>

namespace weft {
namespace {

struct Walker {
  std::unique_ptr<Fiber> fiber;
  std::vector<int>* trace = nullptr;
  int name = 0;
};

TEST(Fiber, TakesTurnsAndEnds) {
  auto stacks = Stacks::make(3, 65536);
  ASSERT_TRUE(stacks);
  std::vector<int> trace;
  std::vector<Walker> walkers(3);
  for (int i = 0; i < 3; ++i) {
    Walker& w = walkers[static_cast<std::size_t>(i)];
    w.trace = &trace;
    w.name = i;
    w.fiber =
        std::make_unique<Fiber>((*stacks)->low(static_cast<std::uint32_t>(i)), (*stacks)->size(),
                                [](void* argument) {
                                  auto& self = *static_cast<Walker*>(argument);
                                  for (int step = 0; step < 3; ++step) {
                                    self.trace->push_back(10 * step + self.name);
                                    self.fiber->pause();
                                  }
                                },
                                &w);
  }
  for (int round = 0; round < 4; ++round) {
    for (Walker& w : walkers) w.fiber->resume();
  }
  for (Walker& w : walkers) EXPECT_TRUE(w.fiber->done());
  EXPECT_EQ(trace, (std::vector<int>{0, 1, 2, 10, 11, 12, 20, 21, 22}));
}

// A fiber pauses inside a catch block while another one catches its own exception.
TEST(Fiber, KeepsItsExceptionAndErrno) {
  auto stacks = Stacks::make(2, 131072);
  ASSERT_TRUE(stacks);
  struct Catcher {
    std::unique_ptr<Fiber> fiber;
    std::string own, seen;
    int error = 0;
  };
  std::vector<Catcher> catchers(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    catchers[i].own = "from " + std::to_string(i);
    catchers[i].fiber = std::make_unique<Fiber>((*stacks)->low(i), (*stacks)->size(),
                                                [](void* argument) {
                                                  auto& self = *static_cast<Catcher*>(argument);
                                                  errno = static_cast<int>(self.own.back());
                                                  try {
                                                    throw std::runtime_error(self.own);
                                                  } catch (const std::exception&) {
                                                    self.fiber->pause();
                                                    try {
                                                      throw;
                                                    } catch (const std::exception& again) {
                                                      self.seen = again.what();
                                                    }
                                                  }
                                                  self.error = errno;
                                                },
                                                &catchers[i]);
  }
  for (int round = 0; round < 2; ++round) {
    for (Catcher& c : catchers) c.fiber->resume();
  }
  for (Catcher& c : catchers) {
    EXPECT_EQ(c.seen, c.own);
    EXPECT_EQ(c.error, static_cast<int>(c.own.back()));
  }
}

TEST(Stacks, KnowTheirOwners) {
  auto stacks = Stacks::make(4, 100'000);
  ASSERT_TRUE(stacks);
  EXPECT_EQ((*stacks)->size(), 131072u);
  EXPECT_EQ((*stacks)->owner((*stacks)->low(2)), 2u);
  EXPECT_FALSE((*stacks)->in_guard((*stacks)->low(2)));
  EXPECT_TRUE((*stacks)->in_guard((*stacks)->low(2) - 1));
  EXPECT_EQ((*stacks)->owner((*stacks)->low(2) - 1), 2u);
  int on_the_thread = 0;
  EXPECT_FALSE((*stacks)->owner(&on_the_thread));
}

TEST(Stacks, WithoutGuardsShowAnOverflow) {
  auto stacks = Stacks::make(20'000, 65536, Stacks::Guards::none);
  ASSERT_TRUE(stacks);
  EXPECT_EQ((*stacks)->guarded(), 0u);
  EXPECT_TRUE((*stacks)->intact(19'999));
  (*stacks)->low(19'999)[0] = std::byte{1};
  EXPECT_TRUE((*stacks)->intact(19'999));
  (*stacks)->low(19'999)[-8] = std::byte{1};
  EXPECT_FALSE((*stacks)->intact(19'999));
  EXPECT_TRUE((*stacks)->intact(19'998));
}

std::size_t touched_pages(const Stacks& stacks, std::uint32_t index) {
  std::vector<unsigned char> pages(stacks.size() / 4096);
  EXPECT_EQ(mincore(stacks.low(index), stacks.size(), pages.data()), 0);
  return static_cast<std::size_t>(std::count_if(
      pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(Stacks, CostNothingUntilTouched) {
  auto stacks = Stacks::make(1000, 65536);
  ASSERT_TRUE(stacks);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE((*stacks)->intact(i));
    EXPECT_EQ(touched_pages(**stacks, i), 0u);
  }
}

struct Diver {
  Stacks* stacks = nullptr;
  std::unique_ptr<Fiber> fiber;
  std::size_t before = 0, after = 0;
  int sum = 0;
};

__attribute__((noinline)) int dive(int depth) {
  volatile char room[1000] = {};
  room[999] = static_cast<char>(depth);
  return depth == 0 ? room[999] : dive(depth - 1) + room[999];
}

// Memory that a rank used once, deep in some call, is returned while it waits.
TEST(Stacks, GiveBackWhatLiesBelow) {
  auto stacks = Stacks::make(2, 65536);
  ASSERT_TRUE(stacks);
  Diver diver;
  diver.stacks = stacks->get();
  diver.fiber = std::make_unique<Fiber>((*stacks)->low(1), (*stacks)->size(),
                                        [](void* argument) {
                                          auto& self = *static_cast<Diver*>(argument);
                                          self.sum = dive(30);
                                          self.before = touched_pages(*self.stacks, 1);
                                          self.stacks->give_back_unused(1);
                                          self.after = touched_pages(*self.stacks, 1);
                                          self.fiber->pause();
                                          self.sum += dive(30);
                                        },
                                        &diver);
  diver.fiber->resume();
  EXPECT_GE(diver.before, 7u);
  EXPECT_LE(diver.after, 2u);
  diver.fiber->resume();
  EXPECT_TRUE(diver.fiber->done());
  EXPECT_EQ(diver.sum, 930);
}

}  // namespace
}  // namespace weft
