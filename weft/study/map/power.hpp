// SPDX-License-Identifier: Apache-2.0
// Powers by multiplications and square roots alone, which round the same way everywhere: the C
// library's own differ from machine to machine.
#pragma once

#include <cmath>

namespace weft::map {

// base^exponent, to about 2^-40. REQUIRES: base >= 0, exponent >= 0.
inline double power(double base, double exponent) {
  double made = 1;
  for (; exponent >= 1; --exponent) made *= base;
  constexpr int bits = 40;
  for (int i = 0; i < bits && exponent > 0; ++i) {
    base = std::sqrt(base);
    exponent *= 2;
    if (exponent < 1) continue;
    made *= base;
    exponent -= 1;
  }
  return made;
}

}  // namespace weft::map
