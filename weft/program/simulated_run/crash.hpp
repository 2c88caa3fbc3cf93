// SPDX-License-Identifier: Apache-2.0
// A rank that crashes says who it was and when.
#pragma once

#include <weft/program/simulated_run/console.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

// Catches the signals of a crash in this process. Both must live until its end.
void watch_for_crashes(const World& world, Console& console);
// On every thread that runs ranks: a stack for the handler, as the rank's own may be full.
void prepare_thread_for_crashes();

}  // namespace weft
