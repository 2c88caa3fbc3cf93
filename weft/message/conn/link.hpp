// SPDX-License-Identifier: Apache-2.0
// What a rank knows of its connection to one peer, or of its attempt to get one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include <weft/message/conn/head.hpp>
#include <weft/message/conn/link_life.hpp>
#include <weft/message/conn/packet.hpp>

namespace weft::conn {

// The most relays between two ranks. One is the rule; more are needed only where neighbours could
// not be connected.
inline constexpr std::uint8_t relays_most = 3;

// A frame of other ranks that passes through this one.
struct TransitFrame {
  Head head;
  Packet packet;
  RankId from;            // The previous hop,
  std::uint8_t left = 0;  // and the relays still ahead on that hop; it holds that credit.
};

// A frame or write of our own that waits until the connection is open.
struct WaitingFrame {
  bool is_write = false, stable = false;
  SendPath path;
  FrameHead head = {};
  Payload payload;
  RemoteMemory place;
  std::uint64_t cookie = 0;
  std::unique_ptr<std::byte[]> own;
};

// What a neighbour relays for us and others, by the number of relays that are still before a frame.
struct RelayQueues {
  std::array<std::size_t, relays_most + 1> used = {}, owed = {};  // Credit.
  std::array<std::deque<TransitFrame>, relays_most + 1> transit;
  std::deque<std::uint32_t> waiting;  // Targets of our own frames, each once.
  std::set<std::uint32_t> waits;      // The same, to look up.
};

// The last frame that a peer sends on a connection.
struct LastFrame {
  std::uint32_t number = 0;  // So many came before it.
  bool asks = false;         // It asks to close the connection; else it agrees.
};

struct Link {
  using State = LinkState;
  State state = State::none;  // Changed by follow() alone.
  // What holds beside the state: these outlive it, and say nothing about which steps are next.
  bool neighbour = false;
  bool counted = false;           // Among the shortcuts.
  bool sticky = false;            // Unknown whether all has arrived: it is never closed.
  bool answer_due = false;        // We have asked, and not heard yet.
  bool wanted_meanwhile = false;  // The peer asked for a new one while the old one was closing.
  std::uint32_t out = 0, in = 0;  // Frames and writes since it was opened.
  std::uint32_t open_cookies = 0;
  std::optional<LastFrame> last_in;         // Of the peer.
  std::uint64_t used = 0;                   // When, in ticks of State.
  std::uint32_t relayed = 0;                // Frames relayed to or from the peer,
  std::uint64_t relayed_since = 0;          // since then.
  std::uint32_t tries = 0;                  // Failed attempts to open it, where no route leads.
  std::uint32_t pause = 0, next_pause = 0;  // Frames to relay before we ask again.

  std::unique_ptr<RelayQueues> relay_queues;
  std::unique_ptr<std::deque<WaitingFrame>> waiting_frames;

  void follow(LinkEvent event) { step(state, event); }
  bool being_opened() const { return state == State::opening || state == State::forcing; }
  bool up() const { return state == State::open; }
  RelayQueues& queues() {
    if (relay_queues == nullptr) relay_queues = std::make_unique<RelayQueues>();
    return *relay_queues;
  }
};

}  // namespace weft::conn
