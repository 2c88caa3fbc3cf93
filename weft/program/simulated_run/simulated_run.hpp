// SPDX-License-Identifier: Apache-2.0
// One simulated run of a program, from options to summary.
#pragma once

#include <memory>
#include <string>

#include <weft/base/result.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/simulate/setup/simulation_options.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {

// Called from a signal handler: ends the run early, with the results so far.
void request_end();

// Runs the program and prints the results. Returns the exit code of the process: the program's own,
// or 1 when the run could not be completed. `peers` are the processes that share the run, or null;
// all get the same code.
Result<int> run_simulated(const SimulationOptions& options, const SimulationSetup& setup,
                          ProgramCopies& copies, const ProgramCall& call, ProcessGroup* peers);

}  // namespace weft
