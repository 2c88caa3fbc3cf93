// SPDX-License-Identifier: Apache-2.0
// A set of numbers of a range, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::flits {

class NumberSet {
 public:
  // For the numbers from `first` up to and without `end`.
  NumberSet(std::uint32_t first, std::uint32_t end)
      : first_(first), words_((std::size_t{end - first} + 63) / 64) {}
  void add(std::uint32_t n) { words_[(n - first_) / 64] |= bit(n); }
  void remove(std::uint32_t n) { words_[(n - first_) / 64] &= ~bit(n); }
  bool empty() const {
    for (const std::uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }
  // Calls visit(n) for each; it may remove n and add any.
  template <typename Visit>
  void each(Visit&& visit) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        visit(first_ + static_cast<std::uint32_t>(w * 64) +
              static_cast<std::uint32_t>(__builtin_ctzll(word)));
    }
  }

 private:
  std::uint64_t bit(std::uint32_t n) const { return std::uint64_t{1} << ((n - first_) % 64); }

  const std::uint32_t first_;
  std::vector<std::uint64_t> words_;
};

}  // namespace weft::flits
