// SPDX-License-Identifier: Apache-2.0
// One visit of a plain router: its inputs. plain_outputs.hpp has the outputs to other routers,
// plain_ends.hpp the outputs to nodes, and the cards.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include <weft/simulate/router/masks.hpp>
#include <weft/simulate/router/port_view.hpp>
#include <weft/simulate/router/visit.hpp>

namespace weft::detail {

// What a CubeVisit knows of its router (cube_visit.hpp); 0: nothing.
struct CubeShape {
  std::uint32_t ports;      // Between routers, of each.
  std::uint32_t ring_bits;  // See RingShape; rings are then of one block.
  bool waits;               // How long heads wait for outputs is measured.
};

// Holds what is known of this router, looked up once: the compiler would otherwise load it again
// after every store. All functions are inlined into one, and the object lives in registers, so
// nothing that is not inlined may see `this`.
template <PlainKind kind>
class PlainVisit : private Visit<kind.even, kind.waits> {
 public:
  [[gnu::always_inline]] PlainVisit(State& state, int worker, RouterIndex r)
      : Visit<kind.even, kind.waits>(state, worker, r),
        outputs_(&state.outputs[router_.first_output]),
        accounts_(&state.accounts[state.channel(router_.first_output, Vc(0))]),
        inputs_(&state.inputs[router_.first_input]),
        slots_(&state.slots[state.rings.first(router_.first_input)]),
        times_(state, router_),
        waiting_words_(kind.words == 1 ? nullptr : state.waiting(router_.first_output)),
        due_(kind.timed ? &state.head_due[router_.first_input] : nullptr),
        crossbar_(&state.crossbar_free_at[router_.first_port]),
        through_(state.setup.machine.arbitration == Arbitration::through_first
                     ? low_part<Mask>(router_.ports * state.setup.vcs)
                     : 0),
        vcs_(kind.vcs != 0 ? kind.vcs : state.setup.vcs),
        ports_(router_.ports),
        ends_(router_.ends()),
        rings_(state.rings),
        first_position_(state.rings.first_position(r)),
        own_(state.worker(worker)) {}

  [[gnu::always_inline]] inline void run(Reach reach);

 private:
  template <CubeShape>
  friend class CubeVisit;
  using Base = Visit<kind.even, kind.waits>;
  using Base::cross, Base::index_of, Base::leave_slot, Base::note_wait, Base::use_vc;
  using Base::state_, Base::router_, Base::worker_, Base::r_;
  using typename Base::Passage;
  using Mask = MaskOf<kind.words>;

  Slot& slot(LocalInput bit, std::uint32_t position) {
    return slots_[(std::size_t{bit.value} << rings_.block_bits) + offset(position)];
  }
  Slot& slot(const Account& there, std::uint32_t position) {
    return state_.slots[there.ring + offset(position)];
  }
  std::size_t offset(std::uint32_t position) const {
    return kind.whole ? position & rings_.mask : rings_.offset(position);
  }
  Slot& head(LocalInput bit) { return slot(bit, inputs_[bit].head); }
  Account& account(LocalOutput output, Vc vc) { return accounts_[output.value * vcs_ + vc.value]; }
  // Of the node at this output, and of the node whose card it is.
  Card& card_behind(LocalOutput output) {
    const std::uint32_t node = output.value - ports_ - (kind.buffered ? ends_ : 0);
    return state_.cards[CardIndex(router_.first_card.value + node)];
  }
  Card& card_at_output(LocalOutput output) {
    return state_.cards[CardIndex(router_.first_card.value + output.value - ends_)];
  }
  std::uint64_t* unrouted() { return kind.words == 1 ? &router_.unrouted : state_.unrouted(r_); }
  std::int64_t& crossbar(LocalInput bit) {
    return crossbar_[kind.vcs != 0 ? bit.value / vcs_ : inputs_[bit].port];
  }
  // For a packet that arrives at `head_at` in a buffer which the last one leaves at `left_at`.
  std::int64_t ready_at(std::int64_t head_at, std::int64_t left_at) const {
    return std::max(head_at + state_.setup.early_ps, left_at) +
           (kind.even ? 0 : state_.setup.late_ps);
  }
  static Mask mask_of(LocalInput bit) { return Mask{1} << bit.value; }
  // Heads that wait for the output.
  Mask waiting(LocalOutput output) const {
    return kind.words == 1
               ? outputs_[output].waiting
               : load_mask<Mask>(&waiting_words_[std::size_t{output.value} * kind.words]);
  }
  void set_waiting(LocalOutput output, Mask mask) {
    if constexpr (kind.words == 1)
      outputs_[output].waiting = mask;
    else
      store_mask(&waiting_words_[std::size_t{output.value} * kind.words], mask);
  }

  // The candidate that is next in turn.
  LocalInput first_of(Mask candidates, const Output& out) const {
    const Mask through = candidates & through_;
    const Mask set = through != 0 ? through : candidates;
    const Mask later = set & (~Mask{0} << (out.pointer % (64 * kind.words)));
    return LocalInput(first_bit(later != 0 ? later : set));
  }

  struct Asked {  // The worker that asks, for which router, and the time.
    int worker;
    RouterIndex router;
    std::int64_t now;
  };
  // Asks the policy where the head goes; false if nowhere.
  static bool ask_route(State& state, Asked asked, Slot& packet, RouteOption& route) {
    const Choices& choices = ask_policy(state, asked.worker, asked.router, packet, asked.now);
    if (choices.empty()) return false;
    packet.route = choices[0].state;
    route.output =
        static_cast<std::uint16_t>(output_of(state, asked.router, packet, choices[0]).value);
    route.vcs = choices[0].vcs & state.setup.all_vcs;
    return true;
  }

  // A packet has come to the front of its buffer; the one before it has left at `left_at`.
  [[gnu::always_inline]] void new_head(LocalInput bit, std::int64_t left_at) {
    if (!kind.timed) return route(bit, left_at, 0);
    Masks<kind.words>::set(unrouted(), bit);
    const Input& in = inputs_[bit];
    const std::int64_t due = state_.route_at(in, head(bit).head_at);
    due_[bit] = due;
    if (kind.commits) state_.route_due[r_] = std::min(state_.route_due[r_], due);
    times_.bring_forward(routing_actor, due);
  }

  // The head of `bit` gets its route, now.
  [[gnu::always_inline]] void route(LocalInput bit, std::int64_t left_at, std::int64_t now) {
    Input& in = inputs_[bit];
    Slot& packet = head(bit);
    LocalOutput output(ports_);
    VcMask vcs = state_.setup.all_vcs;
    if (kind.cube || (!kind.timed && state_.dimension_order != nullptr)) [[likely]] {
      const DimensionOrder& dor = *state_.dimension_order;
      const std::uint64_t here = dor.places().word(state_.placement.ids[r_]);
      const std::uint64_t target = packet.route >> 32;
      if (target != here) {
        const Choice choice = dor.straight(here, target, packet.route, packet.hops() == 0);
        output = LocalOutput(choice.port);
        vcs = choice.vcs;
        packet.route = (target << 32) | choice.state;
      } else {
        const int node = state_.setup.graph.local_index(NodeId(packet.node));
        output = LocalOutput(ports_ + static_cast<std::uint32_t>(node));
        __builtin_prefetch(&state_.messages[packet.message], 1);
      }
    } else {
      RouteOption asked;
      if (!ask_route(state_, {worker_, r_, now}, packet, asked)) return;
      output = LocalOutput(asked.output);
      vcs = asked.vcs;
    }
    // See GeneralVisit::vcs_of().
    if (kind.buffered && output.value >= ports_ && state_.setup.facts.in_order)
      vcs = VcMask{1} << (bit.value % vcs_);
    const std::int64_t ready = ready_at(packet.head_at, left_at);
    in.ready_at = ready;
    in.vcs = vcs;
    Output& out = outputs_[output];
    __builtin_prefetch(&state_.inputs[out.target], 1);
    set_waiting(output, waiting(output) | mask_of(bit));
    times_.bring_forward(actor_of(output), std::max(ready, out.free_at));
    if (kind.words == 1) router_.heads |= std::uint64_t{1} << bit.value;
  }

  // The packet leaves its place in its buffer, and the next one moves up.
  [[gnu::always_inline]] void depart(LocalOutput output, LocalInput bit, Slot& place,
                                     const Moving& packet, const Passage& passage) {
    Input& in = inputs_[bit];
    const std::uint32_t position = in.head;
    const std::int64_t credit_at = leave_slot(in, place, packet.size(), passage);
    if (kind.commits && state_.queues.kept && !in.remote)
      state_.queues.note_credit(in.feeder(), credit_at);
    const Mask others = waiting(output) & ~mask_of(bit);
    const bool more = in.head != in.tail;
    if (more) [[likely]] {
      __builtin_prefetch(&slot(bit, position + 3), 1);
      // Most are followed by one of the same message.
      Slot& follower = slot(bit, position + 1);
      if ((kind.cube || (!kind.timed && state_.dimension_order != nullptr)) &&
          follower.node == packet.node() && DimensionOrder::leads(packet.route)) [[likely]] {
        follower.route = DimensionOrder::follow(packet.route, follower.route);
        const std::int64_t ready = ready_at(follower.head_at, passage.free_at);
        in.ready_at = ready;
        times_[actor_of(output)] = others != 0 ? passage.free_at : ready;
        return;
      }
      if (!kind.cube && !kind.timed && state_.setup.facts.alike &&
          follower.message == packet.message()) {
        follower.route = packet.route;
        const std::int64_t ready = ready_at(follower.head_at, passage.free_at);
        in.ready_at = ready;
        times_[actor_of(output)] = others != 0 ? passage.free_at : std::max(ready, passage.free_at);
        return;
      }
    }
    set_waiting(output, others);
    times_.schedule(actor_of(output), others != 0 ? passage.free_at : never_at);
    if (kind.words == 1) router_.heads &= ~(std::uint64_t{1} << bit.value);
    if (more) new_head(bit, passage.free_at);
  }

  // plain_outputs.hpp
  static constexpr std::int64_t unknown_at = INT64_MIN;  // VcPick::possible_at: not yet known.

  [[gnu::always_inline]] inline void act(LocalOutput output, std::int64_t now);
  [[gnu::always_inline]] inline void route_heads();
  [[gnu::always_inline]] inline void route_due(std::int64_t now);
  [[gnu::always_inline]] inline bool serve(LocalOutput output, std::int64_t now, std::int64_t sure);
  [[gnu::always_inline]] inline VcPick pick_far(LocalOutput output, const Input& in,
                                                std::int64_t size, std::int64_t now,
                                                std::int64_t sure);
  [[gnu::noinline]] static bool count_credits(State& state, OutputIndex output, Vc vc,
                                              std::int64_t size, std::int64_t now);
  [[gnu::noinline]] static VcPick pick_slowly(State& state, OutputIndex output, VcMask vcs,
                                              std::int64_t size, std::int64_t now);
  [[gnu::always_inline]] inline void grant(LocalOutput output, LocalInput bit, Vc vc, Slot& place,
                                           std::int64_t now);
  [[gnu::always_inline]] inline void push_packet(const Output& out, Vc vc, Account& there,
                                                 const Moving& packet, const Passage& passage);
  [[gnu::always_inline]] inline void rewind(Account& there, Input& in, std::uint16_t first,
                                            std::int64_t now);

  // plain_ends.hpp
  [[gnu::always_inline]] inline void serve_node(LocalOutput output, std::int64_t now);
  [[gnu::always_inline]] inline void serve_own_card(LocalOutput output, std::int64_t now);
  void serve_card_slowly(LocalOutput output, std::int64_t now);
  [[gnu::always_inline]] inline void grant_to_node(LocalOutput output, LocalInput bit, Vc vc,
                                                   Slot& place, std::int64_t now);
  [[gnu::always_inline]] inline void hand_to_node(LocalOutput output, Vc vc, const Slot& place,
                                                  const Moving& packet, const Passage& passage);
  [[gnu::always_inline]] inline void receive(Card& card, const Slot& place, const Moving& packet,
                                             std::int64_t tail);
  [[gnu::noinline]] static void receive_slowly(State& state, int worker, Card& card,
                                               const Slot& packet, std::int64_t tail);
  [[gnu::always_inline]] inline Vc pick_near(LocalOutput output, VcMask vcs, std::int64_t size,
                                             std::int64_t now);
  [[gnu::always_inline]] inline void reclaim_near(Account& there, Input& in, std::int64_t now);
  [[gnu::always_inline]] inline Vc pick_sink(LocalOutput output, VcMask vcs, std::int64_t size,
                                             std::int64_t now);

  // plain_queues.hpp
  [[gnu::always_inline]] inline void push_to_queue(LocalOutput output, Vc vc, const Moving& packet,
                                                   const Passage& passage);
  [[gnu::always_inline]] inline std::int64_t first_in_queue(LocalOutput cable, Input& queue, Vc vc,
                                                            std::int64_t head_at);
  [[gnu::always_inline]] inline bool serve_cable(LocalOutput cable, std::int64_t now,
                                                 std::int64_t sure);
  [[gnu::always_inline]] inline void grant_cable(LocalOutput cable, Vc vc, std::int64_t now);

  const Slice<Output, LocalOutput> outputs_;
  Account* const accounts_;  // By output and VC.
  const Slice<Input, LocalInput> inputs_;
  Slot* const slots_;  // First slot of input 0; each input has a ring.
  ActorTimes<kind.wide> times_;
  std::uint64_t* const waiting_words_;         // By output, if masks are of two words.
  const Slice<std::int64_t, LocalInput> due_;  // See State::head_due.
  std::int64_t* const crossbar_;               // By input port.
  const Mask through_;  // Candidates that go before the others; 0: all are equal.
  const std::uint32_t vcs_, ports_, ends_;
  const RingShape rings_;
  const std::uint16_t first_position_;  // Where this router's rings begin.
  Worker& own_;                         // Who visits.
};

}  // namespace weft::detail
