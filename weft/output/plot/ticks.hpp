// SPDX-License-Identifier: Apache-2.0
// Tick marks: round numbers along an axis.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct Ticks {
  double first = 0, last = 1;  // The axis range, widened to whole steps.
  std::vector<double> at;      // Within [first, last], increasing.
};

// About `wanted` steps of 1, 2 or 5 times a power of ten. REQUIRES: low <= high, both finite.
Ticks linear_ticks(double low, double high, int wanted);
// Powers of ten, with 2 and 5 between where there are few. REQUIRES: 0 < low <= high.
Ticks log_ticks(double low, double high);

// The base-2 logarithm to nine places, the same on every machine. REQUIRES: value > 0.
double binary_log(double value);

// The shortest unambiguous text: "0.25", "1e+06".
std::string tick_text(double value);

}  // namespace weft
