// SPDX-License-Identifier: Apache-2.0
// Every host is asked again, by others of its switch: the votes say how sure its place is, and
// whom they contradict is measured anew and placed again. One noisy host decides nothing.
#pragma once

#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/probe/placing.hpp>

namespace weft::probe {

// By host, 0 to 1; 0 for one that has no place. `hosts`: whom to ask; all others keep 1.
std::vector<double> vote(Instruments& instruments, Placing& placing,
                         const std::vector<std::uint32_t>& hosts);

struct TreeCheck {
  std::size_t checked = 0, contradicting = 0;
};

// Distances that were not measured yet, against what the tree says.
TreeCheck check_tree(Instruments& instruments, const Placing& placing);
// Some hosts of each switch: do they still share it?
TreeCheck check_groups(Instruments& instruments, const Placing& placing);

}  // namespace weft::probe
