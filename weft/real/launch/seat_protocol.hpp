// SPDX-License-Identifier: Apache-2.0
// The protocol between a process and the agent that started it: packets over a socket that
// preserves their boundaries, each a kind and its fields.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::launch {

// Holds the number of the inherited descriptor.
constexpr const char* seat_variable = "WEFT_SEAT";

enum class SeatPacket : std::uint8_t {
  // From the process.
  hello = 1,  // Takes the seat. The kernel tells which process this is.
  card,       // CardPart
  leave,
  abort,       // number: code; number: 1 if another rank is missing; text: message
  resilience,  // number: Resilience
  request,     // CardPart of a Request
  // To the process.
  welcome = 16,  // number: rank; number: ranks; text: secret; text: settings; Birth
  refused,       // text: why
  cards,         // CardPart
  failed,        // text: why the exchange cannot complete
  lost,          // number: rank
  others_leave,  // No fields: after a loss, some process has left in order.
  answer,        // CardPart of an answer to a request
};

// Leaves room for the fields around a part of a card, and stays below the default limit of sockets.
constexpr std::size_t packet_size_max = std::size_t{64} << 10;

}  // namespace weft::launch
