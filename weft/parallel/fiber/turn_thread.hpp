// SPDX-License-Identifier: Apache-2.0
// A thread of the system that runs in turns with its resumer, like a fiber: one of the two runs at
// any moment. Unlike a fiber it has thread-local variables and an identity of its own, which
// libraries with state per thread need.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

namespace weft {

class TurnThread {
 public:
  using Entry = void* (*)(void* argument);
  TurnThread(Entry entry, void* argument) : entry_(entry), argument_(argument) {}
  TurnThread(const TurnThread&) = delete;
  TurnThread& operator=(const TurnThread&) = delete;

  // Makes the thread, which waits for its first turn. Returns an error of the system, or 0. The
  // object must stay where it is from now on, until join() or the end of the process.
  int start(const pthread_attr_t* attributes);
  // Runs the thread until it pauses. By the resumer.
  void resume();
  // Lets it run beside the caller, for good.
  void let_run() { hand_over(threads); }
  // Switches back to the resumer. By the thread.
  void pause();
  // Lets a thread that pauses for the last time run to its end, and waits for that. Returns what
  // the thread returned.
  void* join();
  pthread_t id() const { return id_; }

 private:
  static constexpr std::uint32_t resumers = 0, threads = 1;
  static void* enter(void* given);
  void hand_over(std::uint32_t to);
  void wait_for(std::uint32_t turn);

  Entry entry_;
  void* argument_;
  pthread_t id_{};
  std::atomic<std::uint32_t> turn_{resumers};
};

// While one lives, this thread's futex calls go to the kernel, even if they are trapped elsewhere.
class RealWaits {
 public:
  RealWaits() { ++depth_; }
  ~RealWaits() { --depth_; }
  RealWaits(const RealWaits&) = delete;
  RealWaits& operator=(const RealWaits&) = delete;
  static bool active() { return depth_ > 0; }

 private:
  static thread_local unsigned depth_;
};

}  // namespace weft
