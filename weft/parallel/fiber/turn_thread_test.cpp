// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/parallel/fiber/futex_trap.hpp>
#include <weft/parallel/fiber/turn_thread.hpp>

namespace weft {
namespace {

TEST(TurnThread, RunsInTurnsAndReturnsAValue) {
  struct Shared {
    std::string order;
    std::unique_ptr<TurnThread> thread;
  } shared;
  shared.thread = std::make_unique<TurnThread>(
      [](void* given) -> void* {
        auto& own = *static_cast<Shared*>(given);
        own.order += "b";
        own.thread->pause();
        own.order += "d";
        own.thread->pause();
        own.order += "f";
        return given;
      },
      &shared);
  ASSERT_EQ(shared.thread->start(nullptr), 0);
  shared.order += "a";
  shared.thread->resume();
  shared.order += "c";
  shared.thread->resume();
  shared.order += "e";
  EXPECT_EQ(shared.thread->join(), &shared);
  EXPECT_EQ(shared.order, "abcdef");
}

// In a thread of its own, since a filter stays.
TEST(FutexTrap, AnswersForTheKernel) {
  if (!FutexTrap::obstacle().empty()) GTEST_SKIP() << FutexTrap::obstacle();
  int right = 0;
  TurnThread thread(
      [](void* given) -> void* {
        const auto answer = [](const FutexCall& call) -> long {
          if (RealWaits::active()) return FutexTrap::declined;
          return call.operation == FUTEX_WAKE_PRIVATE && call.value == 3 ? 77 : -EAGAIN;
        };
        if (!FutexTrap::install(answer)) return nullptr;
        std::uint32_t word = 0;
        const auto wake = [&](int count) {
          return ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
        };
        const bool caught = wake(3) == 77 && wake(2) == -1 && errno == EAGAIN;
        const RealWaits real;
        return caught && wake(3) == 0 ? given : nullptr;
      },
      &right);
  ASSERT_EQ(thread.start(nullptr), 0);
  EXPECT_EQ(thread.join(), &right);
}

}  // namespace
}  // namespace weft
