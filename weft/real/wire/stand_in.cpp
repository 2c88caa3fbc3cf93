// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <new>
#include <utility>

#include <pthread.h>

#include <weft/real/wire/own_thread.hpp>
#include <weft/real/wire/stand_in.hpp>

namespace weft::wire {

namespace {

// How often it looks whether the program computes. This is how long others wait at most when it
// begins to: short where they have relayed lately, but so that the looks cost the program nothing.
constexpr auto look_often = std::chrono::milliseconds(1),
               look_seldom = std::chrono::milliseconds(10);
constexpr int quiet_looks = 100;  // So many without work for others, and it looks seldom.

}  // namespace

Result<std::unique_ptr<StandIn>> StandIn::start(Wire& wire, CallLock& lock, Work work) {
  std::unique_ptr<StandIn> made(new StandIn(wire, lock, std::move(work)));
  auto thread = start_without_signals("relaying while the program computes",
                                      [self = made.get()] { self->run(); });
  if (!thread) return std::move(thread).error();
  made->thread_ = *std::move(thread);
  return made;
}

StandIn::~StandIn() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  const bool held = lock_.held();
  if (!held) lock_.take_up(1);
  lock_.ring();
  const unsigned depth = lock_.let_go();
  thread_.join();
  if (held) lock_.take_up(depth);
}

void StandIn::run() {
  ::pthread_setname_np(::pthread_self(), "weft-relay");
  try {
    while (rest()) look();
  } catch (const std::bad_alloc&) {
    work_.fail("out of memory while it relayed for others");
  }
}

void StandIn::look() {
  ++quiet_;
  const std::uint64_t calls = lock_.calls();
  if (std::exchange(calls_seen_, calls) == calls && !lock_.program_is_inside()) serve();
}

bool StandIn::rest() {
  std::unique_lock guard(mutex_);
  const auto span = quiet_ < quiet_looks ? look_often : look_seldom;
  return !stop_.wait_for(guard, span, [&] { return stopping_.load(); });
}

// Until the program calls again.
void StandIn::serve() {
  lock_.take_up(1);
  while (!stopping_ && lock_.calls() == calls_seen_) {
    while (work_.serve()) lock_.step_aside();
    if (!stopping_ && lock_.calls() == calls_seen_ && !lock_.wanted()) wire_.doze();
    if (lock_.wanted()) break;
  }
  const std::uint64_t done = work_.count();
  if (std::exchange(done_seen_, done) != done) quiet_ = 0;
  lock_.let_go();
}

}  // namespace weft::wire
