// SPDX-License-Identifier: Apache-2.0
// One simulated run of a program, from plan to summary.
#pragma once

#include <memory>
#include <string>

#include <weft/base/result.hpp>
#include <weft/parallel/processes/peers.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/simulate/setup/plan.hpp>
#include <weft/simulate/setup/scene.hpp>

namespace weft {

// Asked to end early (a signal): the run ends with what it has.
void request_end();

// Runs the program and tells what there is to tell. Gives the exit code of the process: the
// program's own, or 1 when it could not be carried to its end.
// `peers`: the processes that share the run, null if it is alone; all get the same code.
Result<int> perform(const Plan& plan, const Scene& scene, Images& images, const ProgramCall& call,
                    Peers* peers);

}  // namespace weft
