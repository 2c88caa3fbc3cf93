// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/probability.hpp"

namespace weft {
namespace {

// 2^40 cycles of a nanosecond are a quarter of an hour; no simulation waits longer than that.
constexpr std::size_t digits_max = 40;

}  // namespace

Geometric::Geometric(Probability success) {
  WEFT_CHECK(!success.never());
  if (success.sure()) return;
  std::uint64_t power = 0 - success.part();
  while (power != 0 && powers_.size() < digits_max) {
    powers_.push_back(power);
    power = static_cast<std::uint64_t>((static_cast<detail::UnsignedWide>(power) * power) >> 64);
  }
}

std::int64_t Geometric::gap(std::uint64_t u) const {
  std::int64_t failures = 0;
  detail::UnsignedWide reached = static_cast<detail::UnsignedWide>(1) << 64;  // q^failures
  for (std::size_t i = powers_.size(); i-- > 0;) {
    const detail::UnsignedWide further = (reached * powers_[i]) >> 64;
    if (u >= further) continue;
    reached = further;
    failures += std::int64_t{1} << i;
  }
  return failures + 1;
}

}  // namespace weft
