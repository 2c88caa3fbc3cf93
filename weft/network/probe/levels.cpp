// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/levels.hpp"

#include <algorithm>
#include <cmath>

namespace weft::probe {
namespace {

// A switch adds at least this share of a round trip: hosts take some tens of microseconds at most,
// a switch at least some tenths of one.
constexpr double share_min = 0.005;
constexpr double noise_factor = 5;
// Median and 90th percentile of the absolute difference of two draws with a standard deviation of
// one.
constexpr double difference_scale = 0.954, nine_tenths_scale = 2.33;

// The spread of values that belong together: those of the class below without its outliers, which
// must not hide the jump above them; if these are few, also the values just above.
double spread_around(std::span<const double> sorted, std::size_t first, std::size_t last) {
  constexpr std::size_t few = 4, above = 2;
  const std::size_t count = last + 1 - first;
  if (count >= few) return sorted[last - count / 8] - sorted[first + count / 8];
  const std::size_t end = std::min(last + 1 + above, sorted.size() - 1);
  return std::max(sorted[last] - sorted[first], sorted[end] - sorted[last + 1]);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bool median_below(std::vector<double> times_ns, double limit_ns) {
  std::erase_if(times_ns, [](double time) { return time < 0; });
  return !times_ns.empty() && median(std::move(times_ns)) < limit_ns;
}

std::vector<Level> find_levels(std::span<const double> sorted, double noise_ns) {
  std::vector<Level> levels;
  std::size_t first = 0;
  const auto close = [&](std::size_t end) {
    Level level{first, end - first, sorted[first], sorted[end - 1], 0};
    level.median_ns = sorted[first + level.count / 2];
    levels.push_back(level);
    first = end;
  };
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    const double jump = sorted[i + 1] - sorted[i];
    const double spread = spread_around(sorted, first, i);
    if (jump > noise_factor * noise_ns && jump > share_min * sorted[i] && jump > spread / 2)
      close(i + 1);
  }
  if (!sorted.empty()) close(sorted.size());
  return levels;
}

double noise_of(std::span<const double> once, std::span<const double> again) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < once.size() && i < again.size(); ++i)
    if (once[i] >= 0 && again[i] >= 0) differences.push_back(std::abs(once[i] - again[i]));
  if (differences.empty()) return 0;
  // Long paths have more noise than most pairs, so the upper part of the differences counts too.
  const auto most = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() * 9 / 10);
  std::nth_element(differences.begin(), most, differences.end());
  const double nine_tenths = *most / nine_tenths_scale;
  return std::max(median(std::move(differences)) / difference_scale, nine_tenths);
}

}  // namespace weft::probe
