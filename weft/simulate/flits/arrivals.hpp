// SPDX-License-Identifier: Apache-2.0
// What is on its way, by the cycle in which it arrives. Nothing is on its way for longer than a
// time that is known when this is made, so its slots are used again and again.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::flits {

template <typename T>
class Arrivals {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  explicit Arrivals(std::int64_t delay_max)
      : slots_(std::bit_ceil(static_cast<std::size_t>(delay_max) + 1)) {}

  // REQUIRES: `at` is later than the cycle of the last clear(), by at most delay_max.
  void push(std::int64_t at, const T& what) {
    slot(at).push_back(what);
    ++count_;
  }
  const std::vector<T>& due(std::int64_t now) { return slot(now); }
  void clear(std::int64_t now) {
    count_ -= slot(now).size();
    slot(now).clear();
  }
  // The first cycle from `now` on in which something arrives.
  std::int64_t next(std::int64_t now) {
    if (count_ == 0) return never;
    while (slot(now).empty()) ++now;
    return now;
  }

 private:
  std::vector<T>& slot(std::int64_t at) {
    return slots_[static_cast<std::size_t>(at) & (slots_.size() - 1)];
  }

  std::vector<std::vector<T>> slots_;
  std::size_t count_ = 0;
};

}  // namespace weft::flits
