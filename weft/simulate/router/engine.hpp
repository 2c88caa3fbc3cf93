// SPDX-License-Identifier: Apache-2.0
// The router model. Always holds, inside a router at time t: arrivals and credits up to t are seen
// first, then outputs act in port order, then cards, then alarms; an output's winner is a function
// of what waits there. Nothing depends on the order of insertion, so nothing depends on workers or
// windows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/dimension_order.hpp>
#include <weft/parallel/des/windows.hpp>
#include <weft/simulate/router/abroad.hpp>
#include <weft/simulate/router/messages.hpp>
#include <weft/simulate/router/network.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// What to simulate, and which part of it is whose.
struct Share {
  const NetworkOptions& options;
  const Parts& parts;
};

class Engine {
 public:
  Engine(const Topology& topology, const Machine& machine, const Policy& policy, Host& host,
         const Share& share);

  // Slots and inputs are numbered in 32 bits; what does not fit is refused before it is laid out.
  static Status fits(const Topology& topology, const Machine& machine);

  void set_alarm(NodeId node, Time at);
  void send(const Outgoing& outgoing, Time now);
  Result<bool> run(Time until);
  std::string find_deadlock() const;
  NetworkCounts counts() const;
  LinkCount link(LinkId link) const;
  BufferLevel buffer(RouterId router, int port, int vc, Time at) const;
  LineNews line(RouterId router, int port, int line) const;
  MemoryUse memory() const;
  Duration window() const { return window_; }
  Time last_moment(Time time) const;
  bool is_here(RouterId router) const { return index_[router.index] != elsewhere; }
  bool is_here(std::uint32_t node) const { return is_here(graph_.router_of(NodeId(node))); }

  // For Windows.
  void visit(int worker, std::uint32_t router, Reach reach);
  void expect(int worker, std::uint32_t router, int visits_ahead);
  void write_mail(int worker, int side);
  void read_mail(int worker, int side);
  std::int64_t mailed_ps(int worker) const {
    return crews_[static_cast<std::size_t>(worker)].mailed_at;
  }
  Stretch agree(std::int64_t next, int busy);
  void exchange();

 private:
  friend class View;

  struct PacketMail {
    std::uint32_t input, router;
    Slot slot;
  };
  struct CreditMail {
    std::uint32_t ghost;
    std::int64_t stamp_at;
  };
  struct NewsMail {
    std::uint32_t router;
    NewsItem item;
  };
  struct Mailbox {
    std::vector<PacketMail> packets;
    std::vector<CreditMail> credits;
    std::vector<NewsMail> news;
    std::vector<std::uint32_t> messages;  // Done with; back to the worker whose pool they are from.
  };
  // What belongs to one worker; on a cache line of its own.
  struct alignas(128) Crew {
    NetworkCounts counts;
    std::int64_t mailed_at = INT64_MAX;
    int side = 0;
    std::vector<Mailbox> mail[2];  // By receiving worker.
    std::int64_t failed_at = never_at;
    std::uint32_t failed_router = 0;
    std::string failure;
    Choices choices;  // Scratch: too large to be cleared for every head.
    Wishes wishes;
  };
  struct Candidate {
    std::uint32_t input = 0;
    VcMask vcs = 0;
    std::uint64_t route = 0;  // Flight::state if it goes.
    int vc = -1;
    std::int64_t possible_at = never_at;  // Lower bound when it is later than now.
  };
  struct Passage {  // Of a packet through an output: its first flit, its last, and the end of that.
    std::int64_t start_at, tail_at, free_at;
  };
  struct Frame {  // An output in service, and the one that sent us to it.
    int output;
    const Frame* below;
  };

  // build.cpp
  void own(const Share& share);
  void lay_out();
  void lay_out_router(std::uint32_t r);
  void connect_router(std::uint32_t r);
  void connect(std::uint32_t output, std::uint32_t first_input, std::uint32_t to_router, int wire,
               std::uint32_t credit_ps);
  void connect_cable(std::uint32_t r, std::uint32_t port, std::uint32_t output);
  void make_ghosts();
  void make_rings();
  void make_wires();
  void choose_visit();
  std::uint8_t add_wire(Rate rate, Duration delay, Duration vc_alloc);
  void find_windows(Duration asked);
  int packets_per_buffer(Bytes buffer) const;

  // engine.cpp
  void expect_tables(const Router& router) const;
  void expect_slots(int worker, std::uint32_t r);
  void no_way(int worker, std::uint32_t r, const Slot& packet);
  int worker_of(std::uint32_t r) const;

  // processes.cpp: what other processes have to do with it.
  void connect_abroad(std::uint32_t output, const Port& port, int wire, std::uint32_t credit_ps);
  void connect_from_abroad(std::uint32_t r, std::uint32_t port, std::uint32_t wire,
                           std::uint32_t credit_ps);
  void mail_packet_abroad(const Output& out, std::uint32_t vc, const Slot& packet);
  void mail_credit_abroad(const Input& in, std::int64_t stamp_at);
  std::uint32_t message_of(const ForeignPacket& packet);
  std::uint32_t incoming(std::uint32_t origin, std::uint32_t id);
  void announce(std::uint32_t id);
  Packer& announce_departure(std::uint32_t id);
  void await_departure(Message& message);
  void end_incoming(std::uint32_t id);
  void send_letters();
  void read_letters(int from);
  void read_announcement(int from, Unpacker& letters);
  std::string worst_failure(std::int64_t at_ps, std::uint32_t router, const std::string& text);
  std::uint32_t process_of(std::uint32_t node) const {
    return abroad_->owner[graph_.router_of(NodeId(node)).index];
  }

  // card.cpp
  std::uint32_t router_of(NodeId node) const { return index_[graph_.router_of(node).index]; }
  Card& card_of(NodeId node) {
    return cards_[routers_[router_of(node)].first_card +
                  static_cast<std::uint32_t>(graph_.local_index(node))];
  }
  // Packets for one node stay in one VC where the rest of the way keeps their order.
  VcMask card_vcs(std::uint32_t to) const {
    return facts_.in_order ? VcMask{1} << (to % vcs_) : all_vcs_;
  }
  std::uint64_t packet_state(Card& card, std::uint32_t to) const;
  void serve_card(int worker, std::uint32_t r, int output, std::int64_t now);
  void ring_alarm(int worker, std::uint32_t r, int local, std::int64_t now);
  void end_message(int worker, Card& card, std::int64_t sent_at);
  void receive(int worker, const Slot& packet, std::int64_t tail);

  // hop.cpp
  void visit_any(int worker, std::uint32_t r, Reach reach);
  void route_heads(int worker, std::uint32_t r, std::int64_t now);
  void route_head(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now);
  bool ask_ways(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now);
  void queue_head(std::uint32_t input, std::uint32_t router);
  void serve(int worker, std::uint32_t r, int output, std::int64_t now, const Frame* below);
  template <typename Attempt>
  void try_in_order(std::uint32_t r, int output, Attempt&& attempt);
  Candidate find_winner(int worker, std::uint32_t r, int output, std::int64_t now,
                        const Frame* below);
  Candidate find_oldest(std::uint32_t r, int output, std::int64_t now);
  Candidate weigh(std::uint32_t r, int output, std::uint32_t bit, std::int64_t now);
  std::int64_t allocate_vcs(int worker, std::uint32_t r, std::int64_t now);
  bool ask_and_commit(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now,
                      std::int64_t& possible_at);
  bool commit_head(std::uint32_t r, std::uint32_t input, std::int64_t now,
                   std::int64_t& possible_at);
  void stop_waiting(std::uint32_t r, std::uint32_t input);
  template <typename Attempt>
  void try_in_turn(const std::uint64_t* mask, std::uint32_t pointer, std::uint32_t own,
                   Attempt&& attempt) const;
  int better_output(std::uint32_t r, const Candidate& c, int output, std::int64_t now,
                    const Frame* below);
  void grant(int worker, std::uint32_t r, int output, const Candidate& c, std::int64_t now);
  void depart(int worker, std::uint32_t r, std::uint32_t input, const Passage& passage);

  // news.cpp: what routers tell each other.
  void make_news();
  void make_news_port(std::uint32_t r, int port);
  void start_news();
  LineNews line_news(std::uint32_t r, int port, int line, VcMask ready) const;
  LineNews line_now(std::uint32_t r, int port, int line, std::int64_t now);
  bool is_ready(std::uint32_t output, int vc, std::int64_t now);
  void stir(std::uint32_t r, int output, std::int64_t at);
  void receive_news(int worker, std::uint32_t r, const NewsItem& item);
  void take_news(std::uint32_t r, std::int64_t now);
  void tell_news(int worker, std::uint32_t r, std::int64_t now);
  std::int64_t note_ready(int worker, std::uint32_t r, int port, std::int64_t now);
  std::int64_t tell_line(int worker, std::uint32_t r, int port, std::int64_t now);
  bool tell_parts(int worker, std::uint32_t r, int port, const std::vector<NewsPart>& parts,
                  std::int64_t now);
  LineNews all_free(RouterId router, int port, int line, int most = Line::length_max) const;
  void tell_all(int worker, std::uint32_t r, int port, VcMask before, std::int64_t now);
  void send_news(int worker, std::uint32_t audience, const NewsItem& item);
  std::uint64_t news_flits(std::uint32_t r, int cable) const;
  // The last actor of a router: all others have acted when it speaks.
  int news_actor(std::uint32_t r) const { return routers_[r].actors - 1; }

  // plain.cpp: the same for the plain case.
  template <std::uint32_t fixed_vcs, bool even>
  class PlainVisit;
  template <std::uint32_t fixed_vcs, bool even>
  void visit_plain(int worker, std::uint32_t r, Reach reach);
  bool ask_way(int worker, std::uint32_t r, Slot& packet, std::uint32_t& output, VcMask& vcs);

  // flow.hpp: packets and credits between buffers.
  void push(int worker, const Output& out, int vc, const Slot& slot);
  void mail_packet(int worker, const Output& out, std::uint32_t vc, const Slot& packet);
  void arrive(int worker, std::uint32_t input, std::uint32_t router, const Slot& slot);
  void new_head(int worker, std::uint32_t input, std::uint32_t router);
  void note_credit(std::uint32_t sink, const Slot& packet, std::int64_t tail);
  void credit(int worker, Input& in, std::int64_t stamp_at);
  void mail_credit(int worker, const Input& in, std::int64_t stamp_at);
  void take_credit(int worker, std::uint32_t ghost, std::int64_t stamp_at);
  int pick_vc(std::uint32_t output, VcMask vcs, std::int64_t size, std::int64_t now,
              std::int64_t& possible_at);
  std::int64_t room_at(std::uint32_t output, int vc, std::int64_t size, std::int64_t now);
  std::int64_t room_later(const Account& account, const Output& out, Input& in, std::int64_t size);
  void starve(const Output& out, Input& in);
  void reclaim(Account& account, const Input& in, std::int64_t now);
  std::int64_t stamp_at(const Input& in, std::int64_t size, std::int64_t start_at,
                        std::int64_t tail_at) const;
  std::uint32_t feeder_wire(const Input& in) const {
    if (!in.remote) return outputs_[in.feeder].wire;
    return abroad_ != nullptr ? abroad_->feeders[in.feeder].wire
                              : outputs_[inputs_[in.feeder].feeder].wire;
  }

  // When the head's route is known: only then may a policy that looks at the outputs be asked.
  std::int64_t route_at(const Input& in) const {
    const std::int64_t head = slot(in, in.head).head_at;
    return machine_.lookahead ? std::max(head + route_ps_, in.ready_at)
                              : std::max(head, in.ready_at) + route_ps_;
  }
  std::int64_t ready_at(const Input& in, std::int64_t head_at) const {
    return std::max(head_at + early_ps_, in.ready_at) + late_ps_;
  }
  std::int64_t ready_at(const Input& in) const { return ready_at(in, slot(in, in.head).head_at); }
  // Input of the output's candidate 0. Output buffers are numbered as their cables.
  std::uint32_t first_candidate(std::uint32_t r, int output) const {
    const std::uint32_t base = routers_[r].first_input;
    return output < cable_count(r) ? base : base + static_cast<std::uint32_t>(output) * vcs_;
  }
  std::int64_t& crossbar_free(std::uint32_t r, std::uint16_t port) {
    std::int64_t* const first =
        &crossbar_free_at_[(std::size_t{routers_[r].first_port} + port) * crossbar_ways_];
    return crossbar_ways_ == 1 ? *first : *std::min_element(first, first + crossbar_ways_);
  }
  int output_of(std::uint32_t r, const Slot& packet, const Choice& choice) const {
    return choice.port == Choice::eject
               ? routers_[r].ports + graph_.local_index(NodeId(packet.node))
               : choice.port;
  }
  int cable_count(std::uint32_t r) const { return routers_[r].ports + routers_[r].nodes; }
  void wake(int worker, std::uint32_t r, std::int64_t at) {
    if (at >= routers_[r].wake_at) return;
    routers_[r].wake_at = at;
    windows_->wake(worker, r, at);
  }

  std::int64_t& next_of(std::uint32_t r, int actor) {
    return next_at_[routers_[r].first_next + static_cast<std::uint32_t>(actor)];
  }
  void bring_forward(std::uint32_t r, int actor, std::int64_t at) {
    std::int64_t& next = next_of(r, actor);
    if (at < next) next = at;
    routers_[r].active |= std::uint64_t{1} << (static_cast<unsigned>(actor) % 64);
  }
  // Masks of one word stand where they are used.
  std::uint64_t* waiting(std::uint32_t output) {
    return words_ == 1 ? &outputs_[output].waiting : &waiting_[std::size_t{output} * words_];
  }
  std::uint64_t* fresh(std::uint32_t r) {
    return words_ == 1 ? &routers_[r].fresh : &fresh_[std::size_t{r} * words_];
  }
  const std::uint64_t* waiting(std::uint32_t output) const {
    return const_cast<Engine*>(this)->waiting(output);
  }
  const std::uint64_t* fresh(std::uint32_t r) const { return const_cast<Engine*>(this)->fresh(r); }
  // When the VC can be given away again.
  std::int64_t vc_free_at(std::uint32_t output, int vc) const {
    return held_ ? vc_free_at_[std::size_t{output} * vcs_ + static_cast<std::uint32_t>(vc)] : 0;
  }
  Slot& slot(const Input& in, std::uint32_t position) {
    return slots_[first_slot(in) + (position & ring_mask_)];
  }
  const Slot& slot(const Input& in, std::uint32_t position) const {
    return slots_[first_slot(in) + (position & ring_mask_)];
  }
  // All rings are of one size, in the order of their inputs.
  std::size_t first_slot(const Input& in) const {
    return static_cast<std::size_t>(&in - &inputs_[0]) << ring_bits_;
  }
  // deadlock.cpp
  // A buffer anywhere: its router's number in the network, its own within the router.
  using Place = std::uint64_t;
  struct Waiter {  // A head, and the buffers whose lack of room holds it back.
    Place place;
    bool can_move;
    std::vector<Place> waits;
  };
  Place place_of(std::uint32_t input) const;
  std::string describe(Place place) const;
  std::uint32_t router_of_input(std::uint32_t input) const;
  std::vector<Way> ways_of(std::uint32_t input) const;
  Waiter waiter(std::uint32_t input) const;
  std::vector<Waiter> all_waiters() const;

  const Topology& topology_;
  const Graph& graph_;
  const Machine machine_;
  const Policy& policy_;
  const PolicyFacts facts_;
  Host& host_;
  const Rng packet_bits_;

  const std::uint32_t vcs_;
  const VcMask all_vcs_;
  const bool committing_;  // A head with several ways takes a VC before it has an output.
  const bool timed_;       // Heads are routed at their time, not before.
  const bool held_;        // A VC is not free as soon as its packet has been granted.
  // The one of visit_any() and the kinds of visit_plain() that fits.
  void (Engine::*visit_)(int worker, std::uint32_t r, Reach reach) = nullptr;
  // The policy, if it is dimension order, all cables are up and the router is plain. Then the upper
  // half of Slot::route, which this policy does not use, is the place of the destination's router.
  const DimensionOrder* dor_ = nullptr;
  std::int64_t byte_ps_ = 0;                     // Of all wires, if they are of one rate.
  const bool buffered_;                          // Has output buffers.
  bool all_up_ = true;                           // Every port has a cable, and it works.
  std::uint32_t words_ = 1;                      // Of a waiting mask.
  std::uint32_t ring_bits_ = 0, ring_mask_ = 0;  // Slots of a buffer, a power of two.
  std::uint32_t ways_ = 1;                       // Per input.
  std::int64_t route_ps_, alloc_ps_, leave_ps_;
  // Route and VC allocation, done while the former head leaves or after it.
  const std::int64_t early_ps_, late_ps_;
  std::uint32_t crossbar_ways_ = 1;  // Packets that one input port can send at once.
  std::int32_t buffer_packets_ = 1, output_buffer_packets_ = 1;
  std::int64_t flit_bytes_, header_bytes_;

  LazyArray<Router> routers_;
  std::vector<std::uint32_t> router_of_output_;
  LazyArray<std::int64_t> next_at_;
  LazyArray<Output> outputs_;
  LazyArray<Account> accounts_;
  LazyArray<std::int64_t> vc_free_at_;  // As accounts_, if held_.
  LazyArray<Input> inputs_;
  LazyArray<Way> way_list_;
  LazyArray<Slot> slots_;
  std::vector<std::uint8_t> way_count_;
  std::vector<std::uint64_t> waiting_;  // By output, if they are of several words.
  std::vector<std::uint64_t> seeking_;  // Heads with a route but no VC, per router; if committing.
  std::vector<std::uint64_t> fresh_;    // Heads without a route, per router, likewise.
  LazyArray<std::int64_t> crossbar_free_at_;
  LazyArray<Card> cards_;  // By router.
  std::vector<Wire> wires_;
  std::uint32_t real_inputs_ = 0, input_count_ = 0, output_count_ = 0;
  std::uint64_t slot_count_ = 0;
  std::vector<std::uint8_t> class_wire_;
  std::uint8_t crossbar_wire_ = 0, inject_wire_ = 0, eject_wire_ = 0;

  static constexpr std::uint32_t elsewhere = UINT32_MAX;
  static constexpr int stretch_most = 64;  // Windows before processes speak to all others again.
  // Routers are numbered part by part, so that a worker's lie together.
  std::vector<std::uint32_t> ids_;    // Their numbers in the network.
  std::vector<std::uint32_t> index_;  // By number in the network; or elsewhere.
  Partition partition_;               // Which worker owns which router.
  std::unique_ptr<Abroad> abroad_;    // If there are other processes.
  std::unique_ptr<News> news_;        // If the policy wants to know of lines.
  std::atomic<std::int64_t>* const bulletin_;
  Duration window_, ahead_;
  std::vector<Crew> crews_;
  std::optional<MessagePools> messages_;
  std::optional<Windows<Engine>> windows_;
};

}  // namespace weft::detail
