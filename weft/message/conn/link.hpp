// SPDX-License-Identifier: Apache-2.0
// What a rank knows of its connection to another, or of the wish for one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include <weft/message/conn/head.hpp>
#include <weft/message/conn/packet.hpp>

namespace weft::conn {

// Between two ranks. One is the rule; more only where neighbours could not be connected.
inline constexpr std::uint8_t relays_most = 3;

// A frame of others on its way through us.
struct Passing {
  Head head;
  Packet packet;
  RankId from;            // Who gave it to us,
  std::uint8_t left = 0;  // with so many relays before it then: whose credit it holds.
};

// A frame or write of our own that waits for the connection to open.
struct Held {
  bool is_write = false, stable = false;
  SendPath path;
  FrameHead head = {};
  Payload payload;
  RemoteMemory place;
  std::uint64_t cookie = 0;
  std::unique_ptr<std::byte[]> own;
};

struct Link {
  enum class State : std::uint8_t {
    none,
    invited,  // The peer wants a shortcut; we make room for it.
    asked,    // We want one, and have asked.
    opening,  // Both want it.
    open,
    closing,  // We have asked to close it, as our last frame.
    leaving,  // The peer has; our last frame says yes.
  };
  State state = State::none;
  bool neighbour = false;
  bool forced = false;            // No other way leads there: opened without asking.
  bool counted = false;           // Among the shortcuts.
  bool sticky = false;            // Nobody knows whether all has arrived: it is never closed.
  bool answer_due = false;        // We have asked, and not heard yet.
  bool wanted_meanwhile = false;  // The peer asked for a new one while the old one was closing.
  std::uint32_t out = 0, in = 0;  // Frames and writes since it was opened.
  std::uint32_t open_cookies = 0;
  std::optional<std::uint32_t> last_in;     // The peer's last frame came after so many.
  bool both_ask = false;                    // That one was a wish to close, too.
  std::uint64_t used = 0;                   // When, in our own count.
  std::uint32_t relayed = 0;                // Frames to or from the peer,
  std::uint64_t relayed_since = 0;          // since then.
  std::uint32_t tries = 0;                  // In vain, where no other way leads there.
  std::uint32_t pause = 0, next_pause = 0;  // Frames to relay before we ask again.

  // Of neighbours, by the relays that are still before a frame.
  struct Trunk {
    std::array<std::size_t, relays_most + 1> used = {}, owed = {};
    std::array<std::deque<Passing>, relays_most + 1> queue;
    std::deque<std::uint32_t> waiting;  // Targets of our own frames, each once.
    std::set<std::uint32_t> waits;      // The same.
  };
  std::unique_ptr<Trunk> trunk;
  std::unique_ptr<std::deque<Held>> held;

  bool up() const { return state == State::open; }
  Trunk& lines() {
    if (trunk == nullptr) trunk = std::make_unique<Trunk>();
    return *trunk;
  }
};

}  // namespace weft::conn
