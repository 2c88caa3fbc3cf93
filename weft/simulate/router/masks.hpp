// SPDX-License-Identifier: Apache-2.0
// Masks of a router's inputs as one number, of one word or of two, where visits know how many.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

__extension__ using TwoWords = unsigned __int128;
template <std::uint32_t words>
using MaskOf = std::conditional_t<words == 2, TwoWords, std::uint64_t>;

template <typename Mask>
Mask load_mask(const std::uint64_t* words) {
  Mask mask;
  std::memcpy(&mask, words, sizeof mask);
  return mask;
}
template <typename Mask>
void store_mask(std::uint64_t* words, Mask mask) {
  std::memcpy(words, &mask, sizeof mask);
}
template <typename Mask>
Mask low_part(std::uint32_t count) {
  return count < sizeof(Mask) * 8 ? (Mask{1} << count) - 1 : ~Mask{0};
}
// REQUIRES: mask is not empty.
template <typename Mask>
std::uint32_t first_bit(Mask mask) {
  const auto low = static_cast<std::uint64_t>(mask);
  if (sizeof(Mask) == sizeof low || low != 0)
    return static_cast<std::uint32_t>(std::countr_zero(low));
  constexpr unsigned half = sizeof(Mask) * 8 - 64;
  return 64 +
         static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(mask >> half)));
}

// Masks of a router's inputs, of `words` words if that is not 0.
template <std::uint32_t words>
struct Masks {
  static bool has(const std::uint64_t* mask, LocalInput input) {
    return words == 1 ? ((*mask >> input.value) & 1) != 0 : has_bit(mask, input);
  }
  static void set(std::uint64_t* mask, LocalInput input) {
    if constexpr (words == 1)
      *mask |= std::uint64_t{1} << input.value;
    else
      set_bit(mask, input);
  }
  static void clear(std::uint64_t* mask, LocalInput input) {
    if constexpr (words == 1)
      *mask &= ~(std::uint64_t{1} << input.value);
    else
      clear_bit(mask, input);
  }
  static bool is_empty(const std::uint64_t* mask, std::uint32_t count) {
    if constexpr (words == 1) return *mask == 0;
    if constexpr (words == 2) return (mask[0] | mask[1]) == 0;
    return std::all_of(mask, mask + count, [](std::uint64_t word) { return word == 0; });
  }
};

}  // namespace weft::detail
