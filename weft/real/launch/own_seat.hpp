// SPDX-License-Identifier: Apache-2.0
// A seat in a job of `weft run`: the agent is at the other end of an inherited socket.
#pragma once

#include <memory>

#include <weft/real/launch/seat.hpp>

namespace weft::launch {

// For a process with the variable WEFT_SEAT.
Result<std::unique_ptr<Seat>> take_own_seat();

}  // namespace weft::launch
