// SPDX-License-Identifier: Apache-2.0
// Kills everything that a process has started, directly or indirectly.
#pragma once

#include <functional>

#include <sys/types.h>

namespace weft::launch {

// From now on orphaned descendants become our children, whatever session they are in (subreaper).
void adopt_descendants();

// Kills until there are none, for at most some seconds; calls `reaped` for each child.
void end_descendants(const std::function<void(pid_t, int status)>& reaped);

}  // namespace weft::launch
