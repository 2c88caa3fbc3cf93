// SPDX-License-Identifier: Apache-2.0
// Where a sorted sequence of round trips jumps. A jump counts if it stands out from the noise of a
// measurement, from the values below it and from how they spread; the whole sequence is looked at,
// not only its largest jump, because distances in a tree come in more than two classes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::probe {

struct Level {
  std::size_t first = 0, count = 0;  // Places in the sorted sequence.
  double low_ns = 0, high_ns = 0, median_ns = 0;
};

// `sorted` ascends. One level: no jump.
std::vector<Level> find_levels(std::span<const double> sorted, double noise_ns);

double median(std::vector<double> values);  // 0 when empty.
// Of those round trips that came about; false if none did.
bool median_below(std::vector<double> times_ns, double limit_ns);

// Typical difference of two measurements of the same thing, as a deviation.
double noise_of(std::span<const double> once, std::span<const double> again);

}  // namespace weft::probe
