// SPDX-License-Identifier: Apache-2.0
// Finds the jumps in a sorted sequence of round trips. A jump counts if it stands out from the
// noise of a measurement, from the values below it and from their spread; the whole sequence is
// examined, not only its largest jump, because distances in a tree fall into more than two classes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::probe {

struct Level {
  std::size_t first = 0, count = 0;  // Positions in the sorted sequence.
  double low_ns = 0, high_ns = 0, median_ns = 0;
};

// `sorted` is ascending. A single level means no jump.
std::vector<Level> find_levels(std::span<const double> sorted, double noise_ns);

double median(std::vector<double> values);  // 0 when empty.
// The median of the round trips that succeeded; false if none did.
bool median_below(std::vector<double> times_ns, double limit_ns);

// Standard deviation of a measurement, from pairs of measurements of the same thing.
double noise_of(std::span<const double> once, std::span<const double> again);

}  // namespace weft::probe
