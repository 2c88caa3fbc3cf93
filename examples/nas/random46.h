/* SPDX-License-Identifier: Apache-2.0
 * The random numbers of the NAS kernels: x' = 5^13 x mod 2^46, uniform in (0, 1). Any place of the
 * sequence is reached in a few steps, so each rank makes its own part of it. */
#ifndef RANDOM46_H
#define RANDOM46_H

#include <stdint.h>

typedef uint64_t Random46;

static const uint64_t random46_mask = ((uint64_t)1 << 46) - 1;
static const uint64_t random46_factor = 1220703125; /* 5^13 */
static const uint64_t random46_seed = 271828183;

static inline uint64_t random46_multiply(uint64_t a, uint64_t b) {
  return (a * b) & random46_mask; /* 2^46 divides 2^64: what overflows does not matter. */
}

/* As after `skipped` calls of random46_next. */
static inline Random46 random46_at(uint64_t skipped) {
  uint64_t power = random46_factor, x = random46_seed;
  for (; skipped != 0; skipped >>= 1) {
    if (skipped & 1) x = random46_multiply(x, power);
    power = random46_multiply(power, power);
  }
  return x;
}

static inline double random46_next(Random46* x) {
  *x = random46_multiply(random46_factor, *x);
  return (double)*x * 0x1p-46;
}

#endif
