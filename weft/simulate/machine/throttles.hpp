// SPDX-License-Identifier: Apache-2.0
// Settings that hold others back: a buffer that is too small for its link, a bus that is slower
// than the card. Such a machine can be built, and is simulated as described; but nobody should take
// its numbers for those of the fast part without having been told. The same holds for a routing
// that is another one than usual because cables are down.
#pragma once

#include <string>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/simulate/machine/description.hpp>

namespace weft {

// One line each: which setting, to what rate, what would do. Proportions that are all of the
// profile are those of a machine that exists, and not mentioned.
std::vector<std::string> find_throttles(const Config& config, const MachineDescription& machine);
// Without what only programs meet: DMA, bus and memory of nodes.
std::vector<std::string> find_network_throttles(const Config& config,
                                                const MachineDescription& machine);

}  // namespace weft
