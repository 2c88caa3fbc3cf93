// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other, at the head of every frame.
#pragma once

#include <cstdint>
#include <cstring>

#include <weft/message/port/fabric.hpp>

namespace weft::mp {

enum class Verb : std::uint8_t {
  none = 0,
  eager,    // A message: envelope and data.
  request,  // A large message waits at the sender: envelope; `key`: its head start.
  ready,    // Its receiver is there: where to write it.
  part,     // The notice of a write: part of it has arrived.
  credit,   // Nothing but the return of credit.
  cancel,   // A request is taken back: whoever has matched it must wait for another one.
  head,     // A part of a head start; `key` says where it begins.
  word,     // No message: a Word (word.hpp). `tag` is its kind, `key` its number.
};
inline constexpr auto verb_last = Verb::word;

// What the most frequent frames need stands first: a network may leave out zeros at the end.
struct Header {
  Verb verb = Verb::none;
  std::uint8_t internal = 0;
  std::uint32_t context = 0;
  std::int32_t source = 0, tag = 0;
  std::uint32_t credit = 0;                // Given back.
  std::uint32_t sequence = 0;              // Counts envelopes to this peer, if frames can overtake.
  std::uint64_t size = 0;                  // 0 for eager messages: the frame's size.
  std::uint64_t sender = 0, receiver = 0;  // Requests at either side.
  std::uint64_t key = 0;
};

// Word by word, as the network reads and writes them: what is stored in halves and read whole at
// once must go through memory first, and that is the way of every small message.
inline FrameHead encode(const Header& header) {
  const auto halves = [](std::uint32_t low, std::uint32_t high) {
    return low | (std::uint64_t{high} << 32);
  };
  const std::uint64_t words[] = {
      halves(static_cast<std::uint32_t>(header.verb) | (std::uint32_t{header.internal} << 8),
             header.context),
      halves(static_cast<std::uint32_t>(header.source), static_cast<std::uint32_t>(header.tag)),
      halves(header.credit, header.sequence),
      header.size,
      header.sender,
      header.receiver,
      header.key,
  };
  FrameHead head;
  static_assert(sizeof words == sizeof head);
  std::memcpy(head.data(), words, sizeof words);
  return head;
}
inline Header decode(const FrameHead& head) {
  std::uint64_t words[sizeof head / sizeof(std::uint64_t)];
  std::memcpy(words, head.data(), sizeof words);
  const auto low = [&](int i) { return static_cast<std::uint32_t>(words[i]); };
  const auto high = [&](int i) { return static_cast<std::uint32_t>(words[i] >> 32); };
  return {.verb = static_cast<Verb>(low(0) & 0xff),
          .internal = static_cast<std::uint8_t>(low(0) >> 8),
          .context = high(0),
          .source = static_cast<std::int32_t>(low(1)),
          .tag = static_cast<std::int32_t>(high(1)),
          .credit = low(2),
          .sequence = high(2),
          .size = words[3],
          .sender = words[4],
          .receiver = words[5],
          .key = words[6]};
}

}  // namespace weft::mp
