// SPDX-License-Identifier: Apache-2.0
// How many connections a rank holds, and how it does without the others; the same for all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <weft/base/units.hpp>

namespace weft::conn {

enum class Mode : std::uint8_t {
  full,       // To everybody, from the start.
  on_demand,  // To ranks that something is sent to, for good.
  managed,    // To the neighbours of the layout, and a few shortcuts that come and go.
};

enum class Replace : std::uint8_t { lru, random };  // Which shortcut gives way to another.

struct Options {
  Mode mode = Mode::managed;
  std::uint32_t shortcuts = 8;  // At most, beside the neighbours.
  Replace replace = Replace::lru;
  // Frames relayed to or from a peer, since a shortcut was last used, before that shortcut is
  // closed for it: opening costs more than relaying a few. 1: at the first.
  std::uint32_t patience = 16;
  std::uint64_t seed = 1;

  std::size_t chunk = std::size_t{64} << 10;  // What is larger is relayed in pieces.
  // What a rank may have at one relay, for each number of relays that are left: a relay holds no
  // more than relays_most (link.hpp) times this for each of its neighbours.
  std::size_t relay_window = std::size_t{256} << 10;
  // What may be under way from one rank to another by relays, not yet acknowledged.
  std::size_t pair_window = std::size_t{1} << 20;
  std::uint32_t pair_frames = 256;
  Duration relay_work;  // Processor time of each frame that is passed on.
};

struct Counts {
  std::uint32_t neighbours = 0;      // Connections that are always held.
  std::uint32_t held_most = 0;       // At one time, shortcuts among them.
  std::uint32_t opened = 0;          // In all.
  std::uint32_t shortcuts = 0;       // Opened, at either side's request.
  std::uint32_t evicted = 0;         // Shortcuts that gave way to others.
  std::uint32_t declined = 0;        // Requests that the peer had no room for.
  std::uint32_t refused = 0;         // Requests that the network had no room for.
  std::uint64_t relayed_frames = 0;  // Our own that went over others,
  std::uint64_t relayed_bytes = 0;   //
  std::uint64_t passed_frames = 0;   // and those of others that went over us.
  std::uint64_t passed_bytes = 0;    //
  std::uint64_t passing_most = 0;    // Bytes of others that we held at one time.
  std::uint64_t repeated = 0;        // Frames that went again, another way.

  // Combines several ranks: sums, or the maximum of one rank where that counts.
  void add(const Counts& more) {
    neighbours = std::max(neighbours, more.neighbours);
    held_most = std::max(held_most, more.held_most);
    passing_most = std::max(passing_most, more.passing_most);
    opened += more.opened;
    shortcuts += more.shortcuts;
    evicted += more.evicted;
    declined += more.declined;
    refused += more.refused;
    relayed_frames += more.relayed_frames;
    relayed_bytes += more.relayed_bytes;
    passed_frames += more.passed_frames;
    passed_bytes += more.passed_bytes;
    repeated += more.repeated;
  }
};

}  // namespace weft::conn
