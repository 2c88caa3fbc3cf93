// SPDX-License-Identifier: Apache-2.0
// A seat that `weft run` kept: its agent is at the other end of an inherited socket.
#pragma once

#include <memory>

#include <weft/real/launch/seat.hpp>

namespace weft::launch {

// Of the process that has variable WEFT_SEAT.
Result<std::unique_ptr<Seat>> take_own_seat();

}  // namespace weft::launch
