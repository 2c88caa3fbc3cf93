// SPDX-License-Identifier: Apache-2.0
// A thread is inside the library as long as an object of this class lives; no other is, if several
// threads of the process may call.
#pragma once

#include <weft/message/port/call_lock.hpp>

namespace weft::mpi {

class Inside {
 public:
  Inside() : lock_(CallLock::active()) {
    if (lock_ != nullptr) [[unlikely]]
      lock_->enter();
  }
  ~Inside() {
    if (lock_ != nullptr) [[unlikely]]
      leave();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  void leave();

  CallLock* lock_;
};

}  // namespace weft::mpi
