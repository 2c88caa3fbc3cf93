// SPDX-License-Identifier: Apache-2.0
// Numbers, a bit each, of which the lowest is at hand: for many that lie close to each other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class NumberSet {
 public:
  bool empty() const { return count_ == 0; }
  // REQUIRES: not empty.
  std::uint32_t lowest() const { return lowest_; }
  // REQUIRES: it is not there.
  void add(std::uint32_t number) {
    if (number / bits >= words_.size())
      words_.resize(std::max<std::size_t>(number / bits + 1, words_.size() * 2));
    words_[number / bits] |= bit(number);
    if (count_++ == 0 || number < lowest_) lowest_ = number;
  }
  // REQUIRES: it is there.
  void remove(std::uint32_t number) {
    words_[number / bits] &= ~bit(number);
    if (--count_ == 0 || number != lowest_) return;
    std::size_t word = number / bits;
    while (words_[word] == 0) ++word;
    lowest_ = static_cast<std::uint32_t>(word * bits) +
              static_cast<std::uint32_t>(std::countr_zero(words_[word]));
  }

 private:
  static constexpr std::uint32_t bits = 64;
  static std::uint64_t bit(std::uint32_t number) { return std::uint64_t{1} << (number % bits); }

  std::vector<std::uint64_t> words_;
  std::size_t count_ = 0;
  std::uint32_t lowest_ = 0;
};

}  // namespace weft
