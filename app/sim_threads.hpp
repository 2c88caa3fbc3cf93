// SPDX-License-Identifier: Apache-2.0
// Threads of simulated ranks: whether this machine can have them, and what OpenMP is told.
#pragma once

#include <weft/simulate/setup/simulation_options.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft::app {

// Sets `thread_obstacle`, and variables of the environment, which the program will find.
void prepare_threads(SimulationOptions& options, const SimulationSetup& setup);

}  // namespace weft::app
