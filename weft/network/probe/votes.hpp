// SPDX-License-Identifier: Apache-2.0
// Every host is measured again by others of its switch: the votes give the confidence in its
// position, and a host that they contradict is measured and placed again. One noisy host decides
// nothing.
#pragma once

#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/probe/placing.hpp>

namespace weft::probe {

// Confidence by host, 0 to 1; 0 if not placed. `hosts`: which to check; all others keep 1.
std::vector<double> vote(Instruments& instruments, Placing& placing,
                         const std::vector<std::uint32_t>& hosts);

struct TreeCheck {
  std::size_t checked = 0, contradicting = 0;
};

// Measures new distances and compares them with the tree.
TreeCheck check_tree(Instruments& instruments, const Placing& placing);
// Checks that some hosts of each switch still share it.
TreeCheck check_groups(Instruments& instruments, const Placing& placing);

}  // namespace weft::probe
