// SPDX-License-Identifier: Apache-2.0
// What crosses the port between the message layer and a network: frames, writes into memory of
// other ranks, and what a rank hears of both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <weft/base/id.hpp>
#include <weft/base/units.hpp>
#include <weft/message/port/rank.hpp>

namespace weft {

using RailId = Id<struct RailTag>;  // One of the parallel paths (cards) between two ranks.

// Carried with every frame and write. The message layer gives it its meaning, with one exception:
// the highest bit of the first byte is 0, because a layer between message layer and network marks
// its own frames with it.
using FrameHead = std::array<std::byte, 56>;

// The data of a frame or write. Without data (null) only the size travels.
struct Payload {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  // On a network that carries sizes only: this many bytes at the start are real and travel. 0: all.
  std::size_t given = 0;
  std::size_t held() const { return given == 0 ? size : given; }
};

// Where a frame or write goes, and how.
struct SendPath {
  RankId peer;
  RailId rail;
  Duration gap;       // Wanted pause between packets. Real networks ignore it.
  bool more = false;  // Another frame for this peer follows at once: both may leave together.
};

struct RemoteMemory {
  std::uint64_t key = 0;  // As register_memory returned it to the owner.
  std::size_t offset = 0;
};

// What a rank hears of the network when it polls.
struct Completion {
  enum class Kind : std::uint8_t {
    frame,      // A frame arrived: head, peer, rail, size, and data if it carried any.
    written,    // A peer's write into our memory is complete; head is the notice that came with it.
    sent,       // Our frame or write with this cookie has left; its data is no longer needed.
    unsent,     // Our write with this cookie may not have arrived: repeat it on another rail.
    rail_up,    // A rail to the peer is open (again); told once per rail.
    rail_down,  // A rail is closed. Frames find another one; writes come back as unsent.
    peer_lost,  // No rail leads to the peer any more.
    refused,    // A connect failed: no room for another connection, here or at the peer.
  };
  Kind kind = Kind::frame;
  RankId peer;
  RailId rail;
  std::uint64_t cookie = 0;
  std::size_t size = 0;
  FrameHead head = {};
  // The data of a frame: lent by the network until the next poll, or owned by the reader.
  const std::byte* lent = nullptr;
  std::unique_ptr<std::byte[]> data;
  // Of a write whose data the network could not put in its place: the data goes here.
  std::byte* target = nullptr;
};

}  // namespace weft
