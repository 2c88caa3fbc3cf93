// SPDX-License-Identifier: Apache-2.0
// The heads of frames of managed connections. Frames of the layer above travel unchanged over a
// connection; without one they travel inside a frame with such a head.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <weft/message/port/fabric.hpp>

namespace weft::conn {

enum class Verb : std::uint8_t {
  // From end to end, over relays.
  chunk = 0x80,  // A piece of a frame or write, or a Control.
  ack,           // Only an acknowledgement.
  dropped,       // A relay could not pass on a chunk for `key`: send again.
  // Between two ranks that are connected.
  credit,    // A relay has passed on frames of yours: there is room for more.
  close,     // Shall we close the connection? Our last frame, after this many.
  closed,    // Yes: our last frame, after this many.
  keep,      // No.
  gone,      // A rank is lost; tell others.
  apart,     // Two neighbours could not be connected; tell others.
  all_done,  // No rank needs relays any more; tell others.
};

// What the layer of managed connections says to a rank over relays, in a chunk of its own.
enum class Control : std::uint8_t {
  none = 0,
  open,        // Shall we connect?
  agree,       // Yes.
  decline,     // No room.
  rank_done,   // I need no relays any more.
  group_done,  // No rank of my group needs relays any more.
};

struct Head {
  Verb verb = Verb::chunk;
  std::uint8_t left = 0;  // Relays that are still before it.
  bool is_write = false, has_data = false;
  Control control = Control::none;
  bool urgent = false;  // Somebody waits for the acknowledgement.
  std::uint16_t unused = 0;
  std::uint32_t source = 0, target = 0;
  std::uint32_t number = 0;             // Counts chunks from source to target.
  std::uint32_t ack = 0;                // Source has all chunks of target before this one.
  std::uint64_t total = 0, offset = 0;  // Size of the frame or write; where the piece begins.
  std::uint64_t key = 0, place = 0;     // Target of a write.
};
static_assert(std::is_trivially_copyable_v<Head> && sizeof(Head) <= sizeof(FrameHead));

inline bool is_own(const FrameHead& head) {
  return (head[0] & std::byte{0x80}) != std::byte{0};
}
inline FrameHead encode(const Head& head) {
  FrameHead bytes = {};
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}
inline Head decode(const FrameHead& bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

// Numbers that begin anew after 2^32.
inline bool before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace weft::conn
