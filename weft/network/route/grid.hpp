// SPDX-License-Identifier: Apache-2.0
// Coordinates of a cube or HyperX, all of a router's in one 64-bit word, so that the first
// dimension in which two routers differ is one xor and one count of zeros. Each dimension has just
// the bits its radix needs: as routers number less than 2^32, the sum stays under 64 for any shape.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/base/id.hpp>

namespace weft::detail {

class Grid {
 public:
  static constexpr int axes_max = 32;

  // REQUIRES: fits(radix); router_count is the product of the radices.
  Grid(std::span<const int> radix, std::uint32_t router_count);
  static bool fits(std::span<const int> radix);

  std::uint64_t word(RouterId r) const { return words_[r.index]; }
  int first_axis(std::uint64_t difference) const {
    return axis_of_bit_[static_cast<unsigned>(std::countr_zero(difference))];
  }
  int last_axis(std::uint64_t difference) const {
    return axis_of_bit_[static_cast<unsigned>(63 - std::countl_zero(difference))];
  }
  int coordinate(std::uint64_t word, int axis) const {
    const Field& f = fields_[static_cast<unsigned>(axis)];
    return static_cast<int>((word >> f.shift) & f.mask);
  }
  // The word, or a difference of two, without this axis.
  std::uint64_t without(std::uint64_t word, int axis) const {
    const Field& f = fields_[static_cast<unsigned>(axis)];
    return word & ~(std::uint64_t{f.mask} << f.shift);
  }
  int axes() const { return axes_; }
  int bits() const { return bits_; }  // Bits that a word uses, at most.

 private:
  struct Field {
    std::uint32_t mask = 0;
    std::uint8_t shift = 0;
  };
  std::vector<std::uint64_t> words_;
  std::array<Field, axes_max> fields_{};
  int axes_, bits_ = 0;
  std::array<std::uint8_t, 64> axis_of_bit_{};
};

}  // namespace weft::detail
