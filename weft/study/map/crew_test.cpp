// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <gtest/gtest.h>

#include <weft/study/map/crew.hpp>

namespace weft::map {
namespace {

// Who waits for a phase to be named must hear of it, however soon it is over.
TEST(CrewWorkers, LooksAtLeastOnce) {
  for (const std::size_t jobs : std::initializer_list<std::size_t>{0, 1, 5}) {
    for (int round = 0; round < 100; ++round) {
      std::atomic<std::size_t> done = 0;
      int looks = 0;
      work_off(
          jobs, 2, [&](std::size_t) { ++done; }, [&] { ++looks; });
      EXPECT_EQ(done, jobs);
      EXPECT_GE(looks, 1);
    }
  }
}

}  // namespace
}  // namespace weft::map
