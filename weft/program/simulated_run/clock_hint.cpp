// SPDX-License-Identifier: Apache-2.0
#include "clock_hint.hpp"

#include <fmt/format.h>

#include <weft/base/quantity.hpp>

namespace weft {

std::string clock_hint(const ClockUse& use) {
  constexpr std::uint64_t reads_min = 1000;  // More than from a program that only measures.
  constexpr double slower_min = 10;  // A program that waits for a time would wait so much longer.
  const bool slow = use.simulated.in_seconds() * slower_min < use.wall_seconds;
  if (use.computing_counts || use.reads < reads_min || !slow) return {};
  return fmt::format(
      "weft: {} passed in {:.0f} s of simulation, and the program has read the clock {} times; if "
      "it runs until a time has passed, let its computing take time (--compute measured), or give "
      "it less to do\n",
      to_text(use.simulated), use.wall_seconds, use.reads);
}

}  // namespace weft
