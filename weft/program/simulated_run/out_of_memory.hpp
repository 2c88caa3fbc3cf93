// SPDX-License-Identifier: Apache-2.0
// Ends a simulation that has run out of memory.
#pragma once

#include <cstddef>

namespace weft {

// From now on, when the simulator or the library runs out of memory, the process ends with one line
// of text. A rank's own `new` fails as it would elsewhere and ends everything if the exception is
// not caught.
void watch_for_exhaustion();

// Ends the process.
[[noreturn]] void end_for_lack_of_memory();

// Records the size of the failed allocation on this thread, for the error message.
void note_refusal(std::size_t bytes);

}  // namespace weft
