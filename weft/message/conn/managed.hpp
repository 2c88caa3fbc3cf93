// SPDX-License-Identifier: Apache-2.0
// A network with few connections, over one with many: a layer between the message layer and a
// Fabric that replaces its transport, connections and rails. A rank reaches peers that it is not
// connected to over its neighbours, and asks for a shortcut; see docs/concepts/connections.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/link.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/message/conn/window.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::conn {

class Managed final : public Transport, public Connections, public Rails {
 public:
  // Begins to connect, as the mode says. What it is given must outlive it.
  Managed(const Fabric& below, const Layout& layout, const Options& options);
  ~Managed() override;
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  // Serves others until all ranks have made this call and need nobody any more.
  void leave();
  const Counts& counts() const { return counts_; }

  // For the layer above; valid as long as this object is.
  const Fabric& fabric() const { return fabric_; }

  int rail_count(RankId peer) const override { return below_.rails.rail_count(peer); }
  RailFacts rail_facts(RankId peer, RailId rail) const override;
  void lower_rates(RankId peer, const std::byte* data, std::span<double> rates) const override;
  void connect(RankId peer) override;
  void disconnect(RankId) override {}  // Connections close by agreement; see shortcut.cpp.
  bool connected(RankId peer) const override;
  bool needs_connection(RankId peer) const override {
    return below_.connections.needs_connection(peer);
  }
  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId peer, std::uint64_t cookie) override;
  std::uint64_t register_memory(RankId peer, std::byte* data, std::size_t size) override;
  void deregister_memory(std::uint64_t key) override;
  bool poll(Completion& out) override;
  void wait(Time until) override;

 private:
  using State = Link::State;
  // What we wait to hear of from the network below.
  struct Slot {
    enum class Kind : std::uint8_t { free, user, chunk, passing, last_frame };
    Kind kind = Kind::free;
    std::uint32_t index = 0, generation = 0;
    RankId peer;
    std::uint64_t cookie = 0;  // Of the layer above.
    Passing passing;           // The packet stays until it has left.
  };
  struct Ready {
    Completion completion;
    std::unique_ptr<std::byte[]> keep;  // What the completion lends.
  };
  struct Region {
    RankId peer;
    std::byte* data = nullptr;
    std::size_t size = 0;
  };
  struct Route {
    RankId next;
    std::uint8_t left = 0;
    bool found = false;
  };
  // A way of our own: frames go there as they are, now or when it is open.
  enum class Passage : std::uint8_t { now, soon, relayed };

  // managed.cpp
  Passage passage_to(RankId peer);
  Link& link(RankId peer) { return links_[peer.index]; }
  const Link* find(RankId peer) const;
  bool is_gone(RankId rank) const { return gone_.contains(rank.index); }
  void hold(Held&& held);
  void post_now(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                std::uint64_t cookie);
  void write_now(const SendPath& path, Payload payload, RemoteMemory target,
                 const FrameHead& notice, std::uint64_t cookie);
  void start();
  std::uint64_t take_slot(Slot::Kind kind, RankId peer, std::uint64_t cookie);
  Slot* find_slot(std::uint64_t cookie);
  void free_slot(Slot& slot);
  void tell(Completion::Kind kind, RankId peer, std::uint64_t cookie = 0);
  void handle(Completion& in);
  bool pass_on(Completion& in, Completion& out);
  void left_network(Completion& in);

  // relay.cpp
  Route find_route(RankId target, std::uint8_t most);
  Route search(RankId target) const;
  Route search_far(RankId target) const;
  bool usable(RankId peer) const;
  bool joined(RankId a, RankId b) const;
  void send_relayed(RankId target, SendWindow::Message&& message);
  void pump(RankId target);
  void send_next(RankId target, SendWindow& window, const Route& route);
  void send_ack(RankId target, const Route& route);
  void wait_at(Link& next, RankId target);
  void note_acked(RankId target, Head& head);
  bool draw(Link& to, std::uint8_t left, std::size_t cost);
  void pump_link(RankId peer);
  void pass(Passing&& passing);
  void say_dropped(const Head& chunk);
  void on_dropped(const Head& head);
  void post_passing(RankId next, std::uint8_t left, Passing&& passing);
  void release(Passing& passing);
  int rails_to(RankId peer) const { return std::max(below_.rails.rail_count(peer), 1); }
  void post_link(RankId peer, const Head& head, std::uint64_t cookie = 0);
  void repeat_all();

  // arrive.cpp
  void on_own(const Head& head, Completion& in);
  void on_credit(const Head& head, RankId peer);
  void on_chunk(const Head& head, Completion& in);
  void take_chunk(const Head& head, Packet&& packet, ReceiveWindow& from);
  void take_frame(const Head& head, Packet&& packet, ReceiveWindow& from);
  void take_write(const Head& head, const Packet& packet, ReceiveWindow& from);
  void take_ack(RankId from, std::uint32_t number);
  void note_owed(const Head& head, std::size_t size, ReceiveWindow& from);
  void hear_wishes(RankId from, ReceiveWindow& window);
  void settle_acks(bool all);
  void lose(RankId rank, bool says_so = true);
  void part(RankId a, RankId b);
  void spread(const Head& news, RankId except);
  void tell_news(RankId peer);

  // shortcut.cpp
  void want(RankId peer);
  bool reserve(RankId peer);
  void let_go(RankId peer);
  void open(RankId peer);
  void force(RankId peer);
  bool try_again(RankId peer);
  void take_apart(RankId peer);
  void opened(RankId peer);
  void refused(RankId peer);
  void on_wish(Wish wish, RankId peer);
  void on_open(RankId peer);
  void say(RankId peer, Wish wish);
  bool evict();
  bool evict_for(RankId peer);
  RankId victim();
  void close(RankId peer);
  void note_relayed(RankId peer);
  static bool is_idle(const Link& link) {
    return link.up() && link.open_cookies == 0 && !link.sticky && !link.last_in;
  }
  void serve_invited();
  void on_last(const Head& head, RankId peer);
  void answer_close(RankId peer);
  void close_now(RankId peer);
  static void back_off(Link& link);
  void note_held(int change);

  // leave.cpp
  RankId leader(std::uint32_t group) const;
  RankId root() const;
  void report();
  void on_done(Wish wish, RankId from);
  bool drained() const;
  bool holds_frames() const;

  const Fabric below_, fabric_;
  const Layout& layout_;
  const Options options_;
  const RankId self_;
  Rng random_;
  Counts counts_;
  std::map<std::uint32_t, Link> links_;
  std::vector<RankId> neighbours_;
  std::map<std::uint32_t, SendWindow> outgoing_;
  std::map<std::uint32_t, ReceiveWindow> incoming_;
  std::set<std::uint32_t> owing_;  // Sources that wait for acknowledgement.
  std::map<std::uint32_t, Route> routes_;
  std::deque<Ready> ready_;
  std::unique_ptr<std::byte[]> lent_;
  std::deque<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::unordered_multimap<std::uint64_t, Region> regions_;
  std::set<std::uint32_t> gone_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> apart_;
  std::vector<RankId> unreachable_;
  std::vector<RankId> shortcuts_;  // Whose links are counted.
  std::deque<RankId> invited_;
  Completion in_;
  std::uint64_t tick_ = 0;
  std::uint32_t held_ = 0, closing_ = 0;
  std::size_t passing_ = 0;
  bool idle_once_ = false;

  bool leaving_ = false, reported_ = false, all_done_ = false;
  std::set<std::uint32_t> done_ranks_, done_groups_;
};

}  // namespace weft::conn
