// SPDX-License-Identifier: Apache-2.0
// Frames between ranks that are not connected: sent in pieces over neighbours, passed on by relays,
// put together and acknowledged at their target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>

#include <weft/message/conn/neighbours.hpp>
#include <weft/message/conn/state.hpp>
#include <weft/message/conn/window.hpp>

namespace weft::conn {

class Relays {
 public:
  // What relays tell those around them.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void no_route(RankId target) = 0;                // Only a connection leads there.
    virtual void was_relayed(RankId source) = 0;             // A frame came from there by relays.
    virtual void heard(Control control, RankId source) = 0;  // In the order of sending.
  };

  Relays(State& state, Neighbours& neighbours, Owner& owner)
      : state_(state), neighbours_(neighbours), owner_(owner) {}

  void send(RankId target, SendWindow::Message&& message);
  void send(RankId target, Control control);
  // Goes on with what waits for this target.
  void resume(RankId target);
  // The link is open, or has credit again: goes on with what waits for it.
  void resume_link(RankId peer);
  // The link will not open: our frames that wait for it take other routes,
  void give_up_link(RankId peer);
  // and frames of others are dropped: their sources send them again.
  void drop_transit(RankId peer);
  // Something was lost: sends again what is not acknowledged.
  void repeat_all();
  // The rank is lost, and with it what its link held.
  void forget(RankId rank, Link&& lost);
  // A frame of others has left: its source gets its credit back.
  void release(TransitFrame& frame);

  // Frames of relays that came over a link.
  void on_chunk(const Head& head, Completion& in);
  void on_dropped(const Head& head);
  void on_credit(const Head& head, RankId peer);

  // Acknowledges what no frame of our own has acknowledged yet.
  void acknowledge_all();
  // Nothing of ours is under way, and no peer waits for an acknowledgement.
  bool drained() const;

  // Memory that peers may write into.
  void add_region(std::uint64_t key, RankId peer, std::byte* data, std::size_t size);
  void remove_region(std::uint64_t key);

 private:
  struct Region {
    RankId peer;
    std::byte* data = nullptr;
    std::size_t size = 0;
  };

  // relays.cpp
  void pump(RankId target);
  void send_next(RankId target, SendWindow& window, const Route& route);
  void send_ack(RankId target, const Route& route);
  void acknowledge(RankId target, Head& head);
  static void wait_at(Link& next, RankId target);
  bool draw(Link& to, std::uint8_t left, std::size_t cost);
  void pass(TransitFrame&& frame);
  void post_transit(RankId next, std::uint8_t left, TransitFrame&& frame);
  void report_dropped(const Head& chunk);

  // relay_arrivals.cpp
  void take_ack(RankId from, std::uint32_t number);
  void take_chunk(const Head& head, Packet&& packet, ReceiveWindow& from);
  void take_frame(const Head& head, Packet&& packet, ReceiveWindow& from);
  void take_write(const Head& head, const Packet& packet, ReceiveWindow& from);
  void note_owed(const Head& head, std::size_t size, ReceiveWindow& from);

  State& state_;
  Neighbours& neighbours_;
  Owner& owner_;
  std::map<std::uint32_t, SendWindow> outgoing_;     // By target.
  std::map<std::uint32_t, ReceiveWindow> incoming_;  // By source.
  std::set<std::uint32_t> owing_;                    // Sources that wait for acknowledgement.
  std::unordered_multimap<std::uint64_t, Region> regions_;
  std::size_t in_transit_ = 0;  // Bytes of others that we hold.
};

}  // namespace weft::conn
