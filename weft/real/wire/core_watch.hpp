// SPDX-License-Identifier: Apache-2.0
// Whether other threads compete for the core of this thread. They may belong to another job or seem
// to be on another host; and we may be waiting for the very thread that we keep from running.
#pragma once

#include <cstdint>

#include <pthread.h>

#include <weft/real/wire/clock.hpp>

namespace weft::wire {

class CoreWatch {
 public:
  explicit CoreWatch(std::uint64_t ticks_per_ms) : every_(ticks_per_ms * 2) {}
  // Called while the thread waits. Measures now and then; an answer holds for a while.
  bool contested() {
    const std::uint64_t now = ticks();
    if (now - looked_ >= every_) look(now);
    return now < contested_until_;
  }

 private:
  void look(std::uint64_t now);

  std::uint64_t every_;
  std::uint64_t looked_ = 0, contested_until_ = 0;
  std::uint64_t looked_ns_ = 0, stood_ns_ = 0;  // Then; see look().
  pthread_t thread_{};                          // The one that was measured.
};

}  // namespace weft::wire
