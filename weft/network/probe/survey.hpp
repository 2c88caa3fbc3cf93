// SPDX-License-Identifier: Apache-2.0
// The first measurements: some hosts of one switch, the base, and everybody's distance from them.
// Yields the noise of a round trip, its length under one switch, and the size of the first jump.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/probe/meter.hpp>

namespace weft::probe {

struct Survey {
  std::vector<std::uint32_t> base;   // At most three hosts of one switch.
  std::vector<double> from_base_ns;  // By host; no_answer if it does not answer.
  double noise_ns = 0;
  double host_ns = 0;       // A host's share of a round trip: half of one under a switch.
  double same_ns = 0;       // Shorter round trips stay under one switch.
  double jump_ns = 0;       // From those to the next longer ones.
  double spread_ns = 0;     // Spread of those under the base's switch: hosts differ.
  bool one_switch = false;  // No jump was found.
  bool alone = false;       // Near hosts of near hosts are not near: no two share a switch.

  // Depths that differ by no more than this are equal.
  double slack_ns() const;
  // Upper limit of the tolerance: the jump is one link or two, and the tolerance must not reach
  // across it.
  double slack_most_ns() const;
  // Whether noise hides differences that matter.
  bool noisy() const;
};

// REQUIRES: at least two hosts. Measures some rows: one host to all others.
Survey survey_hosts(Instruments& instruments, std::uint32_t hosts);

}  // namespace weft::probe
