// SPDX-License-Identifier: Apache-2.0
#include "weft/output/plot/ticks.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <weft/base/check.hpp>

namespace weft {
namespace {

// Computed here because the last digit of libm differs between machines.
double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  for (int i = 0; i > exponent; --i) power *= 10;
  return exponent < 0 ? 1 / power : power;
}

// The largest exponent whose power of ten is at most `value`, up to rounding.
int floor_log10(double value) {
  int exponent = 0;
  while (exponent < 300 && power_of_ten(exponent + 1) <= value * (1 + 1e-9)) ++exponent;
  while (exponent > -300 && power_of_ten(exponent) > value * (1 + 1e-9)) --exponent;
  return exponent;
}

}  // namespace

Ticks linear_ticks(double low, double high, int wanted) {
  WEFT_CHECK(low <= high && wanted > 0);
  if (low == high) high = low + (low == 0 ? 1 : std::abs(low));
  const double raw = (high - low) / wanted;
  const double power = power_of_ten(floor_log10(raw));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power * 1.0000001) {
      step = factor * power;
      break;
    }
  // The tolerance keeps 0.3 / 0.1 from becoming four steps.
  const auto from = static_cast<long>(std::floor(low / step + 1e-9));
  const auto to = static_cast<long>(std::ceil(high / step - 1e-9));
  Ticks ticks{static_cast<double>(from) * step, static_cast<double>(to) * step, {}};
  for (long i = from; i <= to; ++i) ticks.at.push_back(static_cast<double>(i) * step);
  return ticks;
}

Ticks log_ticks(double low, double high) {
  WEFT_CHECK(low > 0 && low <= high);
  const int from = floor_log10(low);
  const int under = floor_log10(high);
  const int to = std::max(from + 1, under + (high > power_of_ten(under) * (1 + 1e-9) ? 1 : 0));
  Ticks ticks{power_of_ten(from), power_of_ten(to), {}};
  for (int e = from; e <= to; ++e) {
    ticks.at.push_back(power_of_ten(e));
    if (e == to || to - from > 2) continue;
    ticks.at.push_back(2 * power_of_ten(e));
    ticks.at.push_back(5 * power_of_ten(e));
  }
  return ticks;
}

double binary_log(double value) {
  WEFT_CHECK(value > 0);
  int exponent = 0;
  double rest = 2 * std::frexp(value, &exponent);  // In [1, 2).
  double result = exponent - 1;
  // Squaring doubles the logarithm; whether it passes 2 is its next binary digit.
  for (double digit = 0.5; digit > 1e-9; digit /= 2) {
    rest *= rest;
    if (rest < 2) continue;
    rest /= 2;
    result += digit;
  }
  return result;
}

std::string tick_text(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace weft
