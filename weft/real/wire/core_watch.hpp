// SPDX-License-Identifier: Apache-2.0
// Whether others want the core that this thread runs on. They may not be of our job, or not seem to
// be of our host; and what we wait for may be made by whom we hold up.
#pragma once

#include <cstdint>

#include <weft/real/wire/clock.hpp>

namespace weft::wire {

class CoreWatch {
 public:
  explicit CoreWatch(std::uint64_t ticks_per_ms) : every_(ticks_per_ms * 2) {}
  // Looks now and then, and believes it for a while. The thread waits, and has nothing to do.
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
};

}  // namespace weft::wire
