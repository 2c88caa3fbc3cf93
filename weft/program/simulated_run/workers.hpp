// SPDX-License-Identifier: Apache-2.0
// How many worker threads pay for a simulation (--threads auto).
#pragma once

#include <cstdint>
#include <string>

namespace weft {

// Workers meet after every window, so each needs some hundred routers to be worth it: one for 256
// routers, and from eight workers on, one for 512. Smaller networks are left to one worker. At most
// as many as there are cores for them, and 63.
int workers_that_pay(std::uint32_t routers, unsigned cores);

// Cores that this process may use and that nobody else uses now; at least one. A worker that shares
// its core lets all others wait at every meeting.
unsigned idle_cores();
// What else runs, according to the text of /proc/loadavg; 0 if that says nothing.
unsigned others_running(const std::string& loadavg);

}  // namespace weft
