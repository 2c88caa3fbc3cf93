// SPDX-License-Identifier: Apache-2.0
// Numbers for which the language has no type: 128-bit and half precision.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::mpi {

__extension__ using Signed128 = __int128;
#if __LDBL_MANT_DIG__ == 113
using Real128 = long double;
#else
__extension__ using Real128 = __float128;
#endif

// IEEE binary16. Arithmetic is done in float and rounded to the nearest, ties to even.
class Half {
 public:
  Half() = default;
  explicit Half(float value) : bits_(to_bits(value)) {}
  explicit operator float() const { return to_float(bits_); }
  std::uint16_t bits() const { return bits_; }
  static Half from_bits(std::uint16_t bits) {
    Half half;
    half.bits_ = bits;
    return half;
  }

  friend Half operator+(Half a, Half b) { return Half(float(a) + float(b)); }
  friend Half operator-(Half a, Half b) { return Half(float(a) - float(b)); }
  friend Half operator*(Half a, Half b) { return Half(float(a) * float(b)); }
  friend bool operator<(Half a, Half b) { return float(a) < float(b); }
  friend bool operator==(Half a, Half b) { return float(a) == float(b); }
  explicit operator bool() const { return float(*this) != 0.0F; }

 private:
  static float to_float(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fU;
    const std::uint32_t mantissa = bits & 0x3ffU;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
    if (exponent != 0) {
      return std::bit_cast<float>(sign | (exponent + 112U) << 23 | mantissa << 13);
    }
    const float tiny = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -tiny : tiny;
  }

  static std::uint16_t to_bits(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = all >> 16 & 0x8000U;
    const std::uint32_t magnitude = all & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
    if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
    if (magnitude < 0x38800000U) {
      // Adding this constant leaves the rounded multiple of 2^-24 in the low bits.
      const float sum = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3f000000U));
    }
    const std::uint32_t odd = magnitude >> 13 & 1U;
    return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000U + 0xfffU + odd) >> 13);
  }

  std::uint16_t bits_ = 0;
};

}  // namespace weft::mpi
