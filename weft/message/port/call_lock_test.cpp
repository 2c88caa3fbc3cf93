// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <weft/message/port/call_lock.hpp>

namespace weft {
namespace {

using std::chrono::milliseconds;

// A network with a number that threads wait for. Like a real one, it sleeps on descriptors.
class CallLockWorkers : public testing::Test {
 protected:
  void SetUp() override { lock.set_bell(bell); }
  void TearDown() override {
    ::close(bell);
    ::close(wire);
  }

  // A message arrives.
  void arrive(std::uint64_t count = 1) {
    EXPECT_EQ(::write(wire, &count, sizeof count), static_cast<ssize_t>(sizeof count));
  }
  void progress() {
    std::uint64_t count = 0;
    if (::read(wire, &count, sizeof count) > 0) arrived += count;
  }
  void pause(int most_ms) {
    if (lock.wanted()) return;
    const std::int64_t until = now_ms() + most_ms;
    if (lock.defer(until)) return;
    const CallLock::Sleep asleep = lock.fall_asleep(until);
    std::array<pollfd, 2> watched = {pollfd{wire, POLLIN, 0}, pollfd{bell, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), most_ms) == 0) ++woken_by_clock;
    lock.wake_up(asleep);
  }
  // What a blocking call does.
  template <typename Condition>
  void wait_for(Condition condition, bool only_itself = false) {
    lock.enter();
    progress();
    CallLock::Waiter me(condition);
    me.only_itself = only_itself;
    if (!me.holds()) sleep_until(me);
    lock.leave();
  }
  void sleep_until(CallLock::Waiter& me) {
    lock.add(me);
    while (!lock.ready(me)) {
      if (!lock.leads(me)) {
        lock.sleep(me);
        continue;
      }
      pause(10'000);
      lock.step_aside();
      progress();
      lock.settle(&me);
    }
    lock.remove(me);
  }
  void call(const std::function<void()>& body) {
    lock.enter();
    body();
    if (lock.outermost() && lock.waiters_need_help()) {
      progress();
      lock.settle(nullptr);
    }
    lock.leave();
  }
  static std::int64_t now_ms() {
    return std::chrono::duration_cast<milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int wire = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  CallLock lock;
  std::uint64_t arrived = 0;           // Changed and read inside.
  std::atomic<int> woken_by_clock{0};  // Sleeps in which nobody remembered the sleeper.
};

TEST_F(CallLockWorkers, OneIsInsideAtATime) {
  std::uint64_t plain = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        lock.enter();
        lock.enter();  // A function of the program that the library calls.
        ++plain;
        lock.leave();
        lock.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain, 80'000u);
  EXPECT_EQ(lock.calls(), 80'000u);
  EXPECT_FALSE(lock.program_is_inside());
}

TEST_F(CallLockWorkers, AThreadThatCallsAllTheTimeLetsOthersIn) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) {
      lock.enter();
      lock.leave();
    }
  });
  const std::int64_t begin = now_ms();
  for (int i = 0; i < 100; ++i) call([] {});
  EXPECT_LT(now_ms() - begin, 5000);
  stop = true;
  busy.join();
}

TEST_F(CallLockWorkers, EachWaitsForItsOwn) {
  std::vector<std::thread> threads;
  std::vector<int> order;
  for (std::uint64_t t = 1; t <= 8; ++t) {
    threads.emplace_back([&, t] {
      wait_for([&, t] { return arrived >= t; });
      call([&] { order.push_back(static_cast<int>(t)); });
    });
  }
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(milliseconds(2));
    arrive();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.size(), 8u);
}

// What a thread waits for may come from another thread of the process.
TEST_F(CallLockWorkers, ACallWakesWhoSleepsInTheNetwork) {
  for (int i = 0; i < 20; ++i) {
    bool mine = false, yours = false;
    std::thread first([&] { wait_for([&] { return mine; }); });
    std::thread second([&] { wait_for([&] { return yours; }); });
    std::this_thread::sleep_for(milliseconds(i % 3));
    call([&] { yours = true; });
    // Either thread may lead. The call wakes the leader, or tells the other one by itself.
    second.join();
    call([&] { mine = true; });
    first.join();
  }
  EXPECT_EQ(woken_by_clock, 0);
}

TEST_F(CallLockWorkers, AConditionMayWaitItself) {
  bool inner = false;
  std::thread first([&] {
    wait_for(
        [&] {
          if (arrived < 1) return false;
          wait_for([&] { return arrived >= 2; });
          inner = true;
          return true;
        },
        true);
  });
  std::thread second([&] { wait_for([&] { return inner && arrived >= 3; }); });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
    arrive();
  }
  first.join();
  second.join();
  EXPECT_EQ(arrived, 3u);
}

// Threads that wait for each other's messages in all orders.
TEST_F(CallLockWorkers, NobodyIsForgotten) {
  constexpr int rounds = 300, count = 4;
  std::array<int, count> step{};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 1; i <= rounds; ++i) {
        call([&] { step[static_cast<std::size_t>(t)] = i; });
        const auto other = static_cast<std::size_t>((t + i) % count);
        wait_for([&] { return step[other] >= i; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(step[0], rounds);
  EXPECT_EQ(woken_by_clock, 0);
}

}  // namespace
}  // namespace weft
