// SPDX-License-Identifier: Apache-2.0
// Facts about a simulated machine that pictures need.
#pragma once

#include <weft/output/record/network_facts.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {

// Includes link rates and buffer sizes.
NetworkFacts facts_of(const SimulationSetup& setup);

}  // namespace weft
