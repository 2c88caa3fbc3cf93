// SPDX-License-Identifier: Apache-2.0
// This process is a rank of a simulation that runs in another (weft sim --separate processes), or
// becomes it at its first call of MPI.
#pragma once

namespace weft {

// Whether the process was started as one; otherwise nothing may be called but at_rank().
bool has_rank_channel();
// Call before the program's main, or when the library is loaded.
void begin_rank_process();
// Whether the calling thread is that of a rank of a simulation in another process, whose clock is
// virtual.
bool at_remote_rank();

}  // namespace weft
