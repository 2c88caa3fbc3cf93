// SPDX-License-Identifier: Apache-2.0
// The end of a simulation that has no memory left.
#pragma once

#include <cstddef>

namespace weft {

// From now on, a lack of memory for the simulator or the library ends the process with one line. A
// rank's own `new` fails as it would elsewhere, and ends all if nobody catches that.
void watch_for_exhaustion();

// Ends the process.
[[noreturn]] void end_for_lack_of_memory();

// How much was asked for in vain on this thread; for who tells about it.
void note_refusal(std::size_t bytes);

}  // namespace weft
