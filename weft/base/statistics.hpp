// SPDX-License-Identifier: Apache-2.0
// Mean and variance of integers. The state is exact integer sums, so merging parts in any order
// gives the same bits; rounding happens once, when a result is read.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <cstdint>
#include <limits>

#include <weft/base/units.hpp>

namespace weft {

class Running {
 public:
  void add(std::int64_t value) {
    ++count_;
    sum_ += value;
    const auto size =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    add_squares(static_cast<detail::UnsignedWide>(size) * size);
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void merge(const Running& other);

  std::int64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  detail::Wide sum() const { return sum_; }
  std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  std::int64_t max() const { return count_ == 0 ? 0 : max_; }

  double mean() const;  // 0 when empty.
  // Sample variance (over count - 1); 0 with fewer than two values. NaN when the squares overflow
  // 128 bits, which takes 10^8 values of 10^15 (a quarter of an hour in ps).
  double variance() const;
  double deviation() const;

  friend bool operator==(const Running&, const Running&) = default;

 private:
  // Saturates: the largest value means "too large" and stays, whatever the order of merging.
  static constexpr detail::UnsignedWide too_large = ~detail::UnsignedWide{0};
  void add_squares(detail::UnsignedWide squares) {
    squares_ = squares > too_large - squares_ ? too_large : squares_ + squares;
  }

  std::int64_t count_ = 0;
  detail::Wide sum_ = 0;
  detail::UnsignedWide squares_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace weft
