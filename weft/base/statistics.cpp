// SPDX-License-Identifier: Apache-2.0
#include "weft/base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

// The mean split into integer and remainder: sum = whole * count + rest, 0 <= rest < count.
struct Split {
  detail::Wide whole;
  detail::Wide rest;
};

Split split_mean(detail::Wide sum, std::int64_t count) {
  Split made{sum / count, sum % count};
  if (made.rest < 0) {
    made.whole -= 1;
    made.rest += count;
  }
  return made;
}

}  // namespace

void Running::merge(const Running& other) {
  count_ += other.count_;
  sum_ += other.sum_;
  add_squares(other.squares_);
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Running::mean() const {
  if (count_ == 0) return 0;
  const Split mean = split_mean(sum_, count_);
  return static_cast<double>(mean.whole) +
         static_cast<double>(mean.rest) / static_cast<double>(count_);
}

double Running::variance() const {
  if (count_ < 2) return 0;
  if (squares_ == too_large) return std::numeric_limits<double>::quiet_NaN();
  // Squares about the integer part of the mean are computed without rounding: intermediate values
  // may wrap, but the result fits, and unsigned arithmetic is exact modulo 2^128. They differ from
  // the squares about the mean itself by rest^2 / count.
  using detail::UnsignedWide;
  const Split mean = split_mean(sum_, count_);
  const auto whole = static_cast<UnsignedWide>(mean.whole);
  const auto n = static_cast<UnsignedWide>(count_);
  const UnsignedWide about_whole =
      squares_ - 2 * whole * static_cast<UnsignedWide>(sum_) + n * whole * whole;
  const auto rest = static_cast<UnsignedWide>(mean.rest);
  const UnsignedWide shift = rest * rest;
  const UnsignedWide whole_squares = about_whole - shift / n;
  const double squares = static_cast<double>(whole_squares) -
                         static_cast<double>(shift % n) / static_cast<double>(count_);
  return squares / static_cast<double>(count_ - 1);
}

double Running::deviation() const {
  return std::sqrt(variance());
}

}  // namespace weft
