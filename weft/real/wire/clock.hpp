// SPDX-License-Identifier: Apache-2.0
// Real time, read as cheaply as the machine allows.
#pragma once

#include <cstdint>
#include <ctime>

#include <weft/base/units.hpp>

namespace weft::wire {

// Since some moment in the past, the same for all processes of a host.
inline Time real_now() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Time::ps((std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec) * 1000);
}

// Counts at a steady pace. For "not too often", not for measurements.
inline std::uint64_t ticks() {
#if defined(__aarch64__)
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#elif defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(real_now().in_ps() / 1000);
#endif
}

}  // namespace weft::wire
