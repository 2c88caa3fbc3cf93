// SPDX-License-Identifier: Apache-2.0
#include "weft/base/threads.hpp"

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weft {
namespace {

TEST(Threads, RunAndEnd) {
  std::atomic<int> sum = 0;
  Threads threads;
  for (int i = 1; i <= 4; ++i) threads.start([&sum, i] { sum += i; });
  threads.join();
  EXPECT_EQ(sum, 10);
  threads.join();
}

TEST(Threads, CarryTheFirstErrorBack) {
  Threads threads;
  threads.start([] { throw std::bad_alloc(); });
  threads.start([] {});
  EXPECT_THROW(threads.join(), std::bad_alloc);
  EXPECT_NO_THROW(threads.join());
}

TEST(Threads, NameARemedyIfNoneCanBeStarted) {
  // Without room for stacks. In a child, since the limit stays.
  const auto crowd = [] {
    Threads threads;
    const rlimit none = {1, 1};
    ::setrlimit(RLIMIT_AS, &none);
    try {
      for (int i = 0; i < 1000; ++i) threads.start([] {});
    } catch (const std::system_error& error) {
      const bool named = std::string(error.what()).find("--threads") != std::string::npos;
      ::_exit(named ? 7 : 8);
    } catch (const std::bad_alloc&) {
      ::_exit(7);
    }
    ::_exit(0);
  };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's address space cannot be limited";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crowd(), testing::ExitedWithCode(7), "");
}

TEST(FirstFailure, IsTheFirst) {
  FirstFailure failure;
  EXPECT_TRUE(failure.guard([] {}));
  EXPECT_FALSE(failure.guard([] { throw std::runtime_error("one"); }));
  EXPECT_FALSE(failure.guard([] { throw std::logic_error("two"); }));
  EXPECT_THROW(failure.rethrow(), std::runtime_error);
  EXPECT_NO_THROW(failure.rethrow());
}

}  // namespace
}  // namespace weft
