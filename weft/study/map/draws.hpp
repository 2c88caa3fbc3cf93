// SPDX-License-Identifier: Apache-2.0
// Random numbers of other distributions, by no library function, so that every machine draws the
// same.
#pragma once

#include <bit>
#include <cstdint>

#include <weft/base/rng.hpp>

namespace weft::map {

// Mean 1: what a bad move may cost at temperature 1.
inline double exponential(Rng& rng) {
  constexpr double ln2 = 0.6931471805599453;
  const std::uint64_t bits = rng.next() | 1;
  const int zeros = std::countl_zero(bits);
  // What follows the zeros is uniform in [1/2, 1): -ln(x) = 2 atanh((1 - x) / (1 + x)).
  const double x = static_cast<double>((bits << zeros) >> 11) * 0x1p-53;
  const double y = (1 - x) / (1 + x);
  const double y2 = y * y;
  return zeros * ln2 + 2 * y * (1 + y2 * (1.0 / 3 + y2 * (1.0 / 5 + y2 * (1.0 / 7 + y2 / 9))));
}

}  // namespace weft::map
