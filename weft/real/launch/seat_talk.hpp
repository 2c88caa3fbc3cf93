// SPDX-License-Identifier: Apache-2.0
// What a process says to the agent that started it, and hears from it: packets over a socket that
// keeps their borders, each a kind and its fields.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::launch {

// Holds the number of the descriptor.
constexpr const char* seat_variable = "WEFT_SEAT";

enum class SeatPacket : std::uint8_t {
  // From the process.
  hello = 1,  // It takes the seat. The kernel tells which process this is.
  card,       // CardPart
  leave,
  abort,  // number: code; text: message
  // To the process.
  welcome = 16,  // number: rank; number: ranks; text: secret; text: settings
  refused,       // text: why
  cards,         // CardPart
  failed,        // text: why the exchange cannot come to its end
  lost,          // number: rank
};

// With room for the fields around a part of a card, and below what sockets take by default.
constexpr std::size_t packet_size_max = std::size_t{64} << 10;

}  // namespace weft::launch
