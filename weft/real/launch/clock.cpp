// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/clock.hpp"

#include <algorithm>
#include <ctime>

namespace weft::launch {

std::int64_t now_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1000} + now.tv_nsec / 1'000'000;
}

int Deadline::left_ms() const {
  if (!set()) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(at_ - now_ms(), 0, 3'600'000));
}

}  // namespace weft::launch
