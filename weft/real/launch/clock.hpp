// SPDX-License-Identifier: Apache-2.0
// Real time, for waits with a deadline.
#pragma once

#include <cstdint>

namespace weft::launch {

// Milliseconds of a monotonic clock.
std::int64_t now_ms();

// A moment to be done by.
class Deadline {
 public:
  static Deadline never() { return Deadline(-1); }
  static Deadline in_ms(std::int64_t count) { return Deadline(now_ms() + count); }

  bool set() const { return at_ >= 0; }
  bool passed() const { return set() && now_ms() >= at_; }
  // For poll(): -1 means no deadline.
  int left_ms() const;
  friend Deadline sooner(Deadline a, Deadline b) {
    if (!a.set() || !b.set()) return a.set() ? a : b;
    return a.at_ < b.at_ ? a : b;
  }

 private:
  explicit Deadline(std::int64_t at) : at_(at) {}
  std::int64_t at_;
};

}  // namespace weft::launch
