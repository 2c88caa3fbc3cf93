// SPDX-License-Identifier: Apache-2.0
// Connections beside those to neighbours. A rank asks for one over relays when it had to relay
// something, and closes one when another needs the room. Both sides agree to open and to close.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/message/conn/neighbours.hpp>
#include <weft/message/conn/relays.hpp>
#include <weft/message/conn/state.hpp>

namespace weft::conn {

class Shortcuts {
 public:
  // What shortcuts tell those around them.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void link_opened(RankId peer) = 0;   // Frames may go over it.
    virtual void link_refused(RankId peer) = 0;  // Frames must take other routes.
    virtual void unreachable(RankId peer) = 0;   // Where connections are not managed: it is lost.
  };

  Shortcuts(State& state, Neighbours& neighbours, Relays& relays, Owner& owner);

  // Something was relayed to or from the peer.
  void note_relayed(RankId peer);
  // A shortcut to the peer would be of use: asks for one, unless it is too early.
  void want(RankId peer);
  // Opens a connection: both sides want it, or need no agreement.
  void open(RankId peer);
  // No route leads there: opens a connection without asking, whatever the limit is.
  void force(RankId peer);

  // What the network below reports.
  void opened(RankId peer);
  void refused(RankId peer);
  // What the peer says about shortcuts, over relays.
  void hear(Control control, RankId peer);
  // The peer's last frame on a connection, or its answer to ours.
  void on_last(const Head& head, RankId peer);
  // Answers the peer's last frame once all before it have arrived.
  void answer_close(RankId peer);
  // Our own last frame has left.
  void close_now(RankId peer);
  // The rank is lost; `lost` was its link.
  void forget(RankId rank, const Link& lost);
  // Gives room to peers that have asked for a shortcut, or declines.
  void serve_invited();

 private:
  bool reserve(RankId peer);
  void let_go(RankId peer);
  bool try_again(RankId peer);
  void on_open_request(RankId peer);
  bool evict();
  bool evict_for(RankId peer);
  RankId victim();
  void close(RankId peer);
  void note_held(int change);

  State& state_;
  Neighbours& neighbours_;
  Relays& relays_;
  Owner& owner_;
  Rng random_;
  std::vector<RankId> shortcuts_;  // Peers whose links are counted.
  std::deque<RankId> invited_;     // Peers that wait for room.
  std::uint32_t held_ = 0, closing_ = 0;
};

}  // namespace weft::conn
