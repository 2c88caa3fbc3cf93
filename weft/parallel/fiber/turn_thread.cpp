// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <linux/futex.h>

#include <weft/parallel/fiber/futex_trap.hpp>
#include <weft/parallel/fiber/turn_thread.hpp>

namespace weft {

thread_local unsigned RealWaits::depth_ = 0;

namespace {

// The C library's own: in a simulated program these names lead to the simulator.
template <typename Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

int TurnThread::start(const pthread_attr_t* attributes) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = original<Create>("pthread_create");
  const RealWaits real;
  return create(&id_, attributes, &TurnThread::enter, this);
}

void* TurnThread::enter(void* given) {
  auto& self = *static_cast<TurnThread*>(given);
  self.wait_for(threads);
  return self.entry_(self.argument_);
}

void TurnThread::hand_over(std::uint32_t to) {
  turn_.store(to, std::memory_order_release);
  FutexTrap::pass(&turn_, FUTEX_WAKE_PRIVATE, 1);
}

void TurnThread::wait_for(std::uint32_t turn) {
  while (turn_.load(std::memory_order_acquire) != turn)
    FutexTrap::pass(&turn_, FUTEX_WAIT_PRIVATE, turn == threads ? resumers : threads);
}

void TurnThread::resume() {
  hand_over(threads);
  wait_for(resumers);
}

void TurnThread::pause() {
  hand_over(resumers);
  wait_for(threads);
}

void* TurnThread::join() {
  using Join = int (*)(pthread_t, void**);
  static const auto join = original<Join>("pthread_join");
  const RealWaits real;
  void* result = nullptr;
  hand_over(threads);
  join(id_, &result);
  return result;
}

}  // namespace weft
