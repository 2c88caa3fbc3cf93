// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

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

// Errors of jobs, and of the progress, reach the caller after all threads have ended.
TEST(RunJobs, CarriesErrorsBack) {
  for (const int threads : {1, 3}) {
    std::atomic<std::size_t> begun = 0, ended = 0;
    const auto job = [&](std::size_t i) {
      ++begun;
      if (i == 2) {
        ++ended;
        throw std::bad_alloc();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++ended;
    };
    EXPECT_THROW(run_jobs(1000, threads, job, [] {}), std::bad_alloc);
    EXPECT_EQ(begun, ended);
    EXPECT_LT(begun, 1000u);
    EXPECT_THROW(run_jobs(
                     3, threads, [](std::size_t) {}, [] { throw std::runtime_error("x"); }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace weft::map
