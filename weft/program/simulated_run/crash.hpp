// SPDX-License-Identifier: Apache-2.0
// Crash reports that name the rank and its virtual time.
#pragma once

#include <weft/program/simulated_run/console.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

// Handles crash signals in this process. Both arguments must live until its end.
void watch_for_crashes(const World& world, Console& console);
// Call on every thread that runs ranks: gives the handler a stack, as the rank's own may be full.
void prepare_thread_for_crashes();
// The same on a thread of a rank, which has a stack from the system.
void prepare_own_thread_for_crashes();

}  // namespace weft
