// SPDX-License-Identifier: Apache-2.0
// A thread is inside the library as long as an object of this class lives; no other is, if several
// threads of the process may call.
#pragma once

#include <weft/message/port/call_lock.hpp>

namespace weft::mpi {

class Inside {
 public:
  Inside() = default;
  ~Inside() {
    if (CallLock* const lock = held_.lock(); lock != nullptr) [[unlikely]]
      help_waiters(*lock);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  // What this thread did may be what others wait for.
  static void help_waiters(CallLock& lock);

  CallLockHeld held_;
};

}  // namespace weft::mpi
