// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weft/real/wire/stand_in.hpp>
#include <weft/real/wire/test_job.hpp>

namespace weft::wire {
namespace {

using std::chrono::milliseconds;

// Rank 1 sends every frame back.
struct Echo {
  Wire& wire;
  std::uint64_t count = 0;

  bool serve() {
    Completion in;
    if (!wire.poll(in)) return false;
    if (in.kind != Completion::Kind::frame) return true;
    wire.post({in.peer, RailId(0), {}}, in.head, {}, false, 0);
    ++count;
    return true;
  }
};

void post_one(Wire& wire) {
  wire.post({RankId(1), RailId(0), {}}, {}, {}, false, 0);
}
void await_one(Wire& wire) {
  for (Completion in;;) {
    while (wire.poll(in)) {
      if (in.kind == Completion::Kind::frame) return;
    }
    wire.wait(Time::never());
  }
}

class StandInWorkers : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Memory, StandInWorkers, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "shared" : "tcp");
});

TEST_P(StandInWorkers, ServesWhileTheProgramComputes) {
  launch::Settings settings;
  settings.shared_memory = GetParam();
  CallLock lock;  // Of rank 1, for as long as its wire lives.
  std::atomic<bool> over = false;
  run_job(2, settings, [&](Wire& wire) {
    if (wire.self() == RankId(0)) {
      const Time begin = wire.now();
      for (int i = 0; i < 20; ++i) {
        post_one(wire);
        await_one(wire);
        std::this_thread::sleep_for(milliseconds(i % 4));
      }
      EXPECT_LT((wire.now() - begin).in_seconds(), 2.0);
      over = true;
      return;
    }
    Echo echo{wire};
    ASSERT_TRUE(wire.share(lock));
    auto thread = StandIn::start(wire, lock,
                                 {.serve = [&] { return echo.serve(); },
                                  .count = [&] { return echo.count; },
                                  .fail = [](const std::string& why) { FAIL() << why; }});
    ASSERT_TRUE(thread) << thread.error().text();
    // It computes, with a call now and then.
    while (!over) {
      std::this_thread::sleep_for(milliseconds(5));
      lock.enter();
      lock.leave();
    }
    lock.enter();
    thread->reset();  // Also by a thread that is inside.
    EXPECT_TRUE(lock.held());
    lock.leave();
    EXPECT_EQ(echo.count, 20u);
  });
}

}  // namespace
}  // namespace weft::wire
