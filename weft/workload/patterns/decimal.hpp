// SPDX-License-Identifier: Apache-2.0
// Decimal numbers as they were typed: 0.06 stays 6/100, so that a list of loads in steps of 0.02
// hits 0.06 and weights 0.1 and 0.9 add up to one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct Decimal {
  std::int64_t digits = 0;
  int places = 0;  // The value is digits / 10^places; 0 <= places <= 9.

  // The double nearest to the value.
  double value() const;
};

// Digits with at most one point; no sign, no exponent, at most nine places and 10^9 in value.
Result<Decimal> parse_decimal(std::string_view text);

// The same numbers over one power of ten, as whole numbers; `places` is set to that power.
std::vector<std::int64_t> to_common_places(std::span<const Decimal> numbers, int& places);

}  // namespace weft
