// SPDX-License-Identifier: Apache-2.0
// A program that runs until a time has passed (a benchmark with a run time) hardly ever ends where
// computing takes no time. Finds out when a run looks like that, to say what would help.
#pragma once

#include <cstdint>
#include <string>

#include <weft/base/units.hpp>

namespace weft {

struct ClockUse {
  double wall_seconds = 0;  // For which the run has lasted.
  Duration simulated;       // What has passed in it.
  std::uint64_t reads = 0;  // Of the clock, by the program.
  bool computing_counts = false;
};
// One line for the user; empty if the run does not look like that.
std::string clock_hint(const ClockUse& use);

}  // namespace weft
