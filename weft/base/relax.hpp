// SPDX-License-Identifier: Apache-2.0
// What a thread does while it looks at a word again and again: the core's other hardware thread
// runs faster meanwhile, and the loop leaves sooner.
#pragma once

namespace weft {

inline void relax() {
#if defined(__aarch64__)
  asm volatile("yield");
#elif defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// About as many last a microsecond, with one look each.
#if defined(__x86_64__)
inline constexpr int relaxes_per_us = 20;
#else
inline constexpr int relaxes_per_us = 500;
#endif

}  // namespace weft
