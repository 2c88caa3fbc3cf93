// SPDX-License-Identifier: Apache-2.0
// What a relayed frame carries: the head of the frame inside, then its data, as far as there is
// any.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include <weft/message/conn/head.hpp>

namespace weft::conn {

struct Packet {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0, given = 0;

  static Packet make(const FrameHead& inner, Payload data) {
    Packet packet;
    packet.size = sizeof inner + data.size;
    packet.given = data.data == nullptr ? sizeof inner : packet.size;
    packet.bytes = std::make_unique_for_overwrite<std::byte[]>(packet.given);
    std::memcpy(packet.bytes.get(), inner.data(), sizeof inner);
    if (data.data != nullptr && data.size > 0) {
      std::memcpy(packet.bytes.get() + sizeof inner, data.data, data.size);
    }
    return packet;
  }
  // As it came. What the network only lent is copied.
  static Packet take(Completion& frame, bool has_data) {
    Packet packet;
    packet.size = frame.size;
    packet.given = has_data || frame.size < sizeof(FrameHead) ? frame.size : sizeof(FrameHead);
    if (packet.size == 0) return packet;
    packet.bytes = std::move(frame.data);
    if (frame.lent != nullptr) {
      packet.bytes = std::make_unique_for_overwrite<std::byte[]>(packet.given);
      std::memcpy(packet.bytes.get(), frame.lent, packet.given);
      frame.lent = nullptr;
    }
    return packet;
  }
  Payload payload() const { return {bytes.get(), size, given < size ? given : 0}; }
  FrameHead inner() const {
    FrameHead head = {};
    std::memcpy(head.data(), bytes.get(), sizeof head);
    return head;
  }
  const std::byte* data() const { return bytes.get() + sizeof(FrameHead); }
  std::size_t data_size() const { return size - sizeof(FrameHead); }
};

// What it costs of a window, whatever it carries.
inline constexpr std::size_t frame_cost = 128;

}  // namespace weft::conn
