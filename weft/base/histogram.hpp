// SPDX-License-Identifier: Apache-2.0
// Counts of non-negative values in buckets that are exact below 64 and at most 1/64 of their value
// wide above (64 per power of two). The state is integers only, so merging is exact and independent
// of the order of merging.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/base/pack.hpp>

namespace weft {

class Histogram {
 public:
  void add(std::int64_t value, std::int64_t times = 1) {
    WEFT_CHECK(value >= 0 && times >= 0);
    if (times == 0) return;
    const std::size_t index = index_of(value);
    if (index >= counts_.size()) counts_.resize(index + 1);
    counts_[index] += times;
    count_ += times;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void merge(const Histogram& other);
  void pack(Packer& letter) const;
  static Histogram unpack(Unpacker& letter);

  std::int64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::int64_t min() const { return count_ == 0 ? 0 : min_; }  // Exact; 0 when empty.
  std::int64_t max() const { return max_; }                    // Exact; 0 when empty.

  // The smallest bucket end that at least part/of of the values do not exceed, capped at max(); at
  // most 1/64 above the true quantile. 0 <= part <= of; 0 when empty.
  std::int64_t quantile(std::int64_t part, std::int64_t of) const;
  std::int64_t percentile(int per_mille) const { return quantile(per_mille, 1000); }

  // Calls visit(first, last, count) for each bucket with values, in increasing order; both ends
  // belong to the bucket.
  template <typename Visit>
  void for_each_bucket(Visit&& visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) visit(first_of(i), last_of(i), counts_[i]);
  }

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  static constexpr int precision_bits = 6;
  static constexpr std::size_t row = std::size_t{1} << precision_bits;

  static std::size_t index_of(std::int64_t value) {
    const auto v = static_cast<std::uint64_t>(value);
    if (v < row) return static_cast<std::size_t>(v);
    const int shift = static_cast<int>(std::bit_width(v)) - 1 - precision_bits;
    return static_cast<std::size_t>(v >> shift) + row * static_cast<std::size_t>(shift);
  }
  static std::int64_t first_of(std::size_t index) {
    if (index < row) return static_cast<std::int64_t>(index);
    const std::size_t shift = index / row - 1;
    return static_cast<std::int64_t>(index % row + row) << shift;
  }
  static std::int64_t last_of(std::size_t index) {
    if (index < row) return static_cast<std::int64_t>(index);
    return first_of(index) + ((std::int64_t{1} << (index / row - 1)) - 1);
  }

  std::vector<std::int64_t> counts_;  // No trailing zeros, so that equal contents compare equal.
  std::int64_t count_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = 0;
};

}  // namespace weft
