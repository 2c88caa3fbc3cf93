// SPDX-License-Identifier: Apache-2.0
// The first look: some hosts of one switch, the base, and how far everybody is from them. Tells the
// noise of a round trip, what one costs under a switch, and how large the first jump is.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/probe/meter.hpp>

namespace weft::probe {

struct Survey {
  std::vector<std::uint32_t> base;   // Hosts of one switch, at most three.
  std::vector<double> from_base_ns;  // By host; no_answer: it does not answer.
  double noise_ns = 0;
  double host_ns = 0;       // A host's own part of a round trip: half of one under a switch.
  double same_ns = 0;       // Round trips below this are those under one switch.
  double jump_ns = 0;       // From those to the next farther ones.
  double spread_ns = 0;     // Of those under the base's switch: hosts differ.
  bool one_switch = false;  // There is no jump.
  bool alone = false;       // Near hosts of near hosts are not near: no two share a switch.

  // Depths that differ by no more are the same.
  double slack_ns() const;
  // The jump is one link or two: what counts as the same must not reach over it.
  double slack_most_ns() const;
  // Noise hides what must be told apart.
  bool noisy() const;
};

// At least two hosts. Takes some rows: measurements of one host to all others.
Survey look_around(Instruments& instruments, std::uint32_t hosts);

}  // namespace weft::probe
