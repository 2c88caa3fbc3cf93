// SPDX-License-Identifier: Apache-2.0
// A program that was started without weft: one rank in real time that talks to itself, as MPI
// requires. Build systems run small programs to find things out.
#pragma once

#include <weft/message/mpi/runtime.hpp>

namespace weft {

// Call on the thread that will run the program's main.
void begin_singleton();
// With a runtime that lives as long as the process.
void begin_singleton(mpi::Runtime& runtime);
// What asks for further processes hears this where weft run has not started the program.
mpi::Runtime::NoDesk without_weft_run();
// Seconds between two ticks of the clock that real programs read.
double clock_tick();

}  // namespace weft
