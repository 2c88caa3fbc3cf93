// SPDX-License-Identifier: Apache-2.0
// Catches the system calls with which threads wait for each other, so that a simulator can let
// virtual time pass instead. Locks, conditions, barriers and joins of all libraries end in the same
// call (futex), some without a function that could be replaced.
//
// A seccomp filter turns the call into a signal. It stays on a thread for good, and on the threads
// and processes that it starts.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <weft/base/result.hpp>

namespace weft {

struct FutexCall {
  std::uint32_t* word = nullptr;
  int operation = 0;
  std::uint32_t value = 0;
  const void* timeout = nullptr;  // Or how many to requeue.
  std::uint32_t* other = nullptr;
  std::uint32_t bits = 0;
};

class FutexTrap {
 public:
  // Answers a call as the kernel would: a count, or a negative errno. May switch to another thread
  // or fiber. With `declined` the call goes to the kernel.
  using Answer = long (*)(const FutexCall& call);
  static constexpr long declined = -4096;

  // Why this machine cannot do it; empty if it can. Tried once, in a process of its own.
  static const std::string& obstacle();
  // For the calling thread and those that it will start.
  static Status install(Answer answer);
  // A call of our own, which is never caught.
  static long pass(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value);
};

}  // namespace weft
