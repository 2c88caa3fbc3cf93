// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/grid.hpp"

#include <weft/base/check.hpp>

namespace weft::detail {
namespace {

int bits_for(int radix) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(radix - 1)));
}

}  // namespace

bool Grid::fits(std::span<const int> radix) {
  int bits = 0;
  for (const int r : radix) {
    if (r < 1) return false;
    bits += bits_for(r);
  }
  return bits < 64 && radix.size() <= axes_max;
}

Grid::Grid(std::span<const int> radix, std::uint32_t router_count)
    : words_(router_count), axes_(static_cast<int>(radix.size())) {
  WEFT_CHECK(fits(radix));
  int shift = 0;
  for (std::size_t d = 0; d < radix.size(); ++d) {
    const int bits = bits_for(radix[d]);
    fields_[d] = {.mask = (std::uint32_t{1} << bits) - 1,
                  .shift = static_cast<std::uint8_t>(shift)};
    for (int b = 0; b < bits; ++b)
      axis_of_bit_[static_cast<unsigned>(shift + b)] = static_cast<std::uint8_t>(d);
    shift += bits;
  }
  bits_ = shift;
  for (std::uint32_t r = 0; r < router_count; ++r) {
    std::uint32_t rest = r;
    for (std::size_t d = 0; d < radix.size(); ++d) {
      const auto k = static_cast<std::uint32_t>(radix[d]);
      words_[r] |= std::uint64_t{rest % k} << fields_[d].shift;
      rest /= k;
    }
    WEFT_CHECK(rest == 0);
  }
}

}  // namespace weft::detail
