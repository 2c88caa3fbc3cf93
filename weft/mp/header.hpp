// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other, at the head of every frame.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <weft/xport/fabric.hpp>

namespace weft::mp {

enum class Verb : std::uint8_t {
  none = 0,
  eager,         // A message: envelope and data.
  request,       // A large message waits at the sender: envelope; `key`: its head start.
  ready,         // Its receiver is there: where to write it.
  part,          // The notice of a write: part of it has arrived.
  credit,        // Nothing but the return of credit.
  cancel,        // Take back a request, if nobody has matched it.
  cancel_reply,  // size: 1 taken back, 0 too late.
  head,          // A part of a head start; `key` says where it begins.
};
inline constexpr auto verb_last = Verb::head;

// What the most frequent frames need stands first: a network may leave out zeros at the end.
struct Header {
  Verb verb = Verb::none;
  std::uint8_t internal = 0;
  std::uint16_t unused = 0;
  std::uint32_t context = 0;
  std::int32_t source = 0, tag = 0;
  std::uint32_t credit = 0;    // Given back.
  std::uint32_t sequence = 0;  // Of envelopes to this peer, where the network does not keep order.
  std::uint64_t size = 0;      // Of eager messages 0: it is the frame's own.
  std::uint64_t sender = 0, receiver = 0;  // Requests at either side.
  std::uint64_t key = 0;
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) <= sizeof(FrameHead));

inline FrameHead encode(const Header& header) {
  FrameHead head = {};
  std::memcpy(head.data(), &header, sizeof header);
  return head;
}
inline Header decode(const FrameHead& head) {
  Header header;
  std::memcpy(&header, head.data(), sizeof header);
  return header;
}

}  // namespace weft::mp
