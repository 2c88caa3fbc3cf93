// SPDX-License-Identifier: Apache-2.0
// What the parts of managed connections (neighbours, relays, shortcuts) share at one rank: links to
// peers, frames that the network below still holds, and completions for the layer above.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/link.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::conn {

// A frame or write that was given to the network below and has not left it yet.
struct PendingSend {
  enum class Kind : std::uint8_t {
    free,
    user,        // A frame of the layer above.
    chunk,       // A piece of a relayed frame of our own.
    transit,     // A frame of others.
    last_frame,  // The last one on a connection: it closes when this has left.
  };
  Kind kind = Kind::free;
  std::uint32_t index = 0, generation = 0;
  RankId peer;
  std::uint64_t cookie = 0;  // The layer above's own.
  TransitFrame transit;      // Its packet stays until it has left.

  std::uint64_t id() const { return (std::uint64_t{generation} << 32) | (index + 1); }
};

// A completion for the layer above.
struct ReadyCompletion {
  Completion completion;
  std::unique_ptr<std::byte[]> keep;  // What the completion lends.
};

struct State {
  State(const Fabric& below_us, const Layout& layout_of_job, const Options& options_of_job)
      : below(below_us), layout(layout_of_job), options(options_of_job), self(below_us.self) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Link& link(RankId peer) { return links[peer.index]; }
  const Link* find(RankId peer) const;
  bool is_gone(RankId rank) const { return gone.contains(rank.index); }
  bool connected(RankId peer) const;
  // A frame goes over the link.
  void use(Link& to) {
    ++to.out;
    to.used = ++ticks;
  }

  // Gives a number to a frame, by which the network below reports that it has left.
  PendingSend& add_pending(PendingSend::Kind kind, RankId peer, std::uint64_t cookie);
  PendingSend* find_pending(std::uint64_t id);
  void free_pending(PendingSend& pending);

  // Reports to the layer above.
  Completion& tell(Completion::Kind kind, RankId peer, std::uint64_t cookie = 0);
  // A frame of our own kind, over an open link.
  void post(RankId peer, const Head& head, std::uint64_t pending = 0);
  // A frame that was relayed or will be, over an open link.
  void post_packet(PendingSend& pending, const Head& head);
  // Tells everybody that we are connected to.
  void spread(const Head& news, RankId except);

  const Fabric below;
  const Layout& layout;
  const Options options;
  const RankId self;
  Counts counts;
  std::map<std::uint32_t, Link> links;
  std::deque<PendingSend> pending;
  std::vector<std::uint32_t> free_slots;
  std::deque<ReadyCompletion> ready;
  std::set<std::uint32_t> gone;     // Lost ranks.
  std::vector<RankId> unreachable;  // To be lost at the next poll: nothing leads there.
  std::uint64_t ticks = 0;          // Counts uses of links, to find the one used least recently.
  bool leaving = false;             // Nothing new is wanted any more.
};

}  // namespace weft::conn
