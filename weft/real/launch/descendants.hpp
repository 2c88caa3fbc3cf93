// SPDX-License-Identifier: Apache-2.0
// The end of everything that a process has started, and of what that started in turn.
#pragma once

#include <functional>

#include <sys/types.h>

namespace weft::launch {

// From here on orphans among our descendants become our children, wherever they went.
void adopt_descendants();

// Kills until there are none, at most for some seconds; `reaped` hears of each child's end.
void end_descendants(const std::function<void(pid_t, int status)>& reaped);

}  // namespace weft::launch
