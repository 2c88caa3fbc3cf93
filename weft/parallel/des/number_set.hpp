// SPDX-License-Identifier: Apache-2.0
// Numbers, of which the lowest is at hand: a bit for each, a bit for each word of these that is not
// zero, and so on up to one word. So it costs a step or two more for a million numbers than for
// ten.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class NumberSet {
 public:
  bool empty() const { return top_ == 0; }
  // REQUIRES: not empty.
  std::uint32_t lowest() const {
    auto at = static_cast<std::uint32_t>(std::countr_zero(top_));
    for (std::size_t level = levels_.size(); level-- > 0;)
      at = at * bits + static_cast<std::uint32_t>(std::countr_zero(levels_[level][at]));
    return at;
  }
  // The lowest that is greater, or none.
  static constexpr std::uint32_t none = 0xffff'ffff;
  std::uint32_t after(std::uint32_t number) const {
    // Up to the first word with a greater one, and down to its lowest.
    std::uint32_t at = number;
    for (std::size_t level = 0;; ++level) {
      const bool is_top = level == levels_.size();
      if (is_top && at >= bits) return none;
      const std::uint64_t word = is_top                              ? top_
                                 : at / bits < levels_[level].size() ? levels_[level][at / bits]
                                                                     : 0;
      const std::uint64_t greater = word & ~(bit(at) | (bit(at) - 1));
      if (greater != 0) {
        at = at / bits * bits + static_cast<std::uint32_t>(std::countr_zero(greater));
        while (level-- > 0)
          at = at * bits + static_cast<std::uint32_t>(std::countr_zero(levels_[level][at]));
        return at;
      }
      if (is_top) return none;
      at /= bits;
    }
  }
  void add(std::uint32_t number) {
    while (number >> shift_ >= bits) grow();
    std::uint32_t at = number;
    for (std::vector<std::uint64_t>& words : levels_) {
      if (at / bits >= words.size()) words.resize(std::size_t{at / bits} * 2 + 1);
      std::uint64_t& word = words[at / bits];
      const bool was_empty = word == 0;
      word |= bit(at);
      if (!was_empty) return;
      at /= bits;
    }
    top_ |= bit(at);
  }
  // REQUIRES: it is there.
  void remove(std::uint32_t number) {
    std::uint32_t at = number;
    for (std::vector<std::uint64_t>& words : levels_) {
      std::uint64_t& word = words[at / bits];
      word &= ~bit(at);
      if (word != 0) return;
      at /= bits;
    }
    top_ &= ~bit(at);
  }

 private:
  static constexpr std::uint32_t bits = 64, bits_log2 = 6;
  static std::uint64_t bit(std::uint32_t number) { return std::uint64_t{1} << (number % bits); }
  void grow() {
    levels_.push_back({top_});
    top_ = top_ != 0 ? 1 : 0;
    shift_ += bits_log2;
  }

  std::vector<std::vector<std::uint64_t>> levels_;  // The numbers themselves first.
  std::uint64_t top_ = 0;                           // Which words of the last level are not zero.
  std::uint32_t shift_ = 0;  // Bits of a number below those that `top_` tells.
};

}  // namespace weft
