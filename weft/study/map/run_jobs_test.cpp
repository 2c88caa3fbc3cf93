// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <gtest/gtest.h>

#include <weft/study/map/run_jobs.hpp>

namespace weft::map {
namespace {

// The progress names every phase, even one that is over at once.
TEST(RunJobs, LooksAtLeastOnce) {
  for (const std::size_t jobs : std::initializer_list<std::size_t>{0, 1, 5}) {
    for (int round = 0; round < 100; ++round) {
      std::atomic<std::size_t> done = 0;
      int looks = 0;
      run_jobs(
          jobs, 2, [&](std::size_t) { ++done; }, [&] { ++looks; });
      EXPECT_EQ(done, jobs);
      EXPECT_GE(looks, 1);
    }
  }
}

}  // namespace
}  // namespace weft::map
