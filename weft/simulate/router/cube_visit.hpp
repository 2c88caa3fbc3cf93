// SPDX-License-Identifier: Apache-2.0
// One visit of a plain router of a cube with dimension order, two VCs and a node at each router:
// the network that most simulations of tori have. What nearly every packet does is written down
// here without detours; whatever is unusual is left to PlainVisit, which decides from the
// beginning. So both take the same decisions.
#pragma once

#include <weft/simulate/router/plain_ends.hpp>
#include <weft/simulate/router/plain_visit.hpp>

namespace weft::detail {

template <CubeShape shape>
class CubeVisit {
 public:
  [[gnu::always_inline]] CubeVisit(State& state, int worker, RouterIndex r)
      : state_(state),
        router_(state.routers[r]),
        outputs_(&state.outputs[router_.first_output]),
        accounts_(&state.accounts[state.channel(router_.first_output, Vc(0))]),
        inputs_(&state.inputs[router_.first_input]),
        slots_(&state.slots[state.rings.first(router_.first_input)]),
        next_(&state.next_at[router_.first_next]),
        crossbar_(&state.crossbar_free_at[router_.first_port]),
        own_(state.worker(worker)),
        through_(state.setup.machine.arbitration == Arbitration::through_first
                     ? low_bits(router_.ports * vcs)
                     : 0),
        rings_(rings_of(state)),
        ports_(shape.ports != 0 ? shape.ports : router_.ports),
        worker_(worker),
        r_(r) {}

  [[gnu::always_inline]] void run(Reach reach) {
    router_.wake_at = visiting;
    route_heads();
    std::int64_t limit = limit_of(reach);
    std::int64_t now;
    for (;;) {
      const Due due = first_of_active(next_, router_.active);
      now = due.at;
      if (now >= limit) break;
      const std::uint32_t output = due.actor.value - 1;
      if (output < ports_        ? hop(output, now)
          : output == ports_     ? eject(now)
          : output == ports_ + 1 ? inject(now)
                                 : wake_node(now, due.actor)) [[likely]]
        continue;
      if (!act_slowly(state_, worker_, r_, LocalOutput(output), {now, reach.sure_ps})) break;
      limit = limit_of(reach);
    }
    router_.wake_at = never_at;
    if (now < never_at) state_.wake(worker_, r_, now);
  }

 private:
  static constexpr std::uint32_t vcs = 2;
  using Slow = PlainVisit<PlainKind{
      .vcs = vcs, .even = true, .waits = shape.waits, .cube = true, .whole = shape.ring_bits != 0}>;

  // While it waits for credits, it goes no further than all of them are known.
  std::int64_t limit_of(Reach reach) const {
    return router_.starved != 0 ? reach.sure_ps : reach.far_ps;
  }

  // What is unusual. Not inlined: the rest then has more registers.
  // The packet is the new head of `bit`; the one before it has left. As PlainVisit::route().
  [[gnu::noinline]] static void route(State& state, RouterIndex r, LocalInput bit, Slot& packet) {
    Router& router = state.routers[r];
    Input& in = state.inputs[router.first_input + bit];
    const DimensionOrder& order = *state.dimension_order;
    const std::uint64_t here = order.places().word(state.placement.ids[r]);
    const std::uint64_t target = packet.route >> 32;
    LocalOutput output(router.ports);
    if (target != here) {
      const Choice choice = order.straight(here, target, packet.route, packet.hops() == 0);
      output = LocalOutput(choice.port);
      in.vcs = choice.vcs;
      packet.route = (target << 32) | choice.state;
    } else {
      in.vcs = state.setup.all_vcs;
      __builtin_prefetch(&state.messages[packet.message], 1);
    }
    in.ready_at = std::max(packet.head_at + state.setup.early_ps, in.ready_at);
    Output& out = state.outputs[router.first_output + output];
    __builtin_prefetch(&state.inputs[out.target], 1);
    const std::uint64_t mask = std::uint64_t{1} << bit.value;
    out.waiting |= mask;
    router.heads |= mask;
    router.active |= std::uint64_t{1} << actor_of(output).value;
    std::int64_t& next = state.next_at[router.first_next + actor_of(output).value];
    next = std::min(next, std::max(in.ready_at, out.free_at));
  }
  struct When {
    std::int64_t now, sure_ps;
  };
  [[gnu::noinline]] static bool act_slowly(State& state, int worker, RouterIndex r,
                                           LocalOutput output, When when) {
    Slow visit(state, worker, r);
    if (output.value < visit.ports_) return visit.serve(output, when.now, when.sure_ps);
    visit.act(output, when.now);
    return true;
  }
  [[gnu::noinline]] static void tell_feeder(State& state, int worker, Input& in,
                                            std::int64_t stamp) {
    if (in.remote) {
      mail_credit(state, worker, in, stamp);
    } else {
      return_credit(state, worker, in, stamp);
    }
  }
  struct Grant {
    const Output& out;
    Account& there;
    Vc vc;
    std::int64_t now;
  };
  // The packet is the first in the buffer at the other end, or that belongs to another worker. As
  // PlainVisit::push_packet().
  [[gnu::noinline]] static void push_slowly(State& state, int worker, const Slot& packet,
                                            Grant grant) {
    const Output& out = grant.out;
    Account& there = grant.there;
    Input& in = state.inputs[out.target + grant.vc];
    // All its credits are back: begin again with the slot that is in the cache.
    if (!out.remote && in.ready_at + in.credit <= grant.now) {
      there.room += static_cast<std::int32_t>(in.departed - there.departed);
      there.departed = in.departed;
      there.pushed = there.reclaim = in.head = in.tail = state.rings.first_position(out.router);
    }
    there.room -= static_cast<std::int32_t>(packet.size());
    Slot& place = state.slot(there, there.pushed++);
    const std::int64_t head_at = grant.now + out.delay;
    Moving::from(packet).move_to(place, head_at, 1);
    if (out.remote) {
      mail_packet(state, worker, out, grant.vc, place);
      return;
    }
    ++in.tail;
    Router& neighbour = state.routers[out.router];
    neighbour.unrouted |= std::uint64_t{1} << (out.target + grant.vc - neighbour.first_input).value;
    state.wake(worker, out.router, state.ready_at(in, head_at));
  }

  [[gnu::always_inline]] void route_heads() {
    for (std::uint64_t heads = std::exchange(router_.unrouted, 0); heads != 0; heads &= heads - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(heads));
      route(state_, r_, LocalInput(bit), slot(bit, inputs_[bit].head));
    }
  }

  static constexpr bool whole = shape.ring_bits != 0;  // Rings are of one block.
  static RingShape rings_of(const State& state) {
    if (!whole) return state.rings;
    constexpr std::uint32_t mask = (1u << shape.ring_bits) - 1;
    return {.bits = shape.ring_bits,
            .mask = mask,
            .block_bits = shape.ring_bits,
            .block_mask = mask,
            .stride = 0};
  }
  Slot& slot(std::uint32_t bit, std::uint32_t position) {
    return slots_[(std::size_t{bit} << rings_.block_bits) + rings_.offset(position)];
  }
  Slot& slot(const Account& there, std::uint32_t position) {
    return state_.slots[there.ring + rings_.offset(position)];
  }
  std::uint16_t first_position() const { return rings_.first_position(r_); }

  // The candidate that goes next through the output, or none.
  static constexpr std::uint32_t no_bit = UINT32_MAX;
  [[gnu::always_inline]] std::uint32_t first_ready(const Output& out, std::int64_t now) {
    for (std::uint64_t left = out.waiting; left != 0;) {
      const std::uint64_t through = left & through_;
      const std::uint64_t set = through != 0 ? through : left;
      const std::uint64_t later = set & (~std::uint64_t{0} << (out.pointer % 64));
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : set));
      if (inputs_[bit].ready_at <= now && crossbar_[bit / vcs] <= now) [[likely]]
        return bit;
      left &= ~(std::uint64_t{1} << bit);
    }
    return no_bit;
  }

  // No candidate of the output can go yet: it acts again when one may.
  [[gnu::noinline]] static void put_off(State& state, RouterIndex r, LocalOutput output) {
    Router& router = state.routers[r];
    const Input* const inputs = &state.inputs[router.first_input];
    const std::int64_t* const crossbar = &state.crossbar_free_at[router.first_port];
    std::int64_t possible_at = never_at;
    std::uint64_t left = state.outputs[router.first_output + output].waiting;
    if (left == 0) router.active &= ~(std::uint64_t{1} << actor_of(output).value);
    for (; left != 0; left &= left - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
      possible_at = std::min(possible_at, std::max(inputs[bit].ready_at, crossbar[bit / vcs]));
    }
    state.next_at[router.first_next + actor_of(output).value] = possible_at;
  }

  // The output to another router decides; false: unusual, and nothing has happened.
  [[gnu::always_inline]] bool hop(std::uint32_t output, std::int64_t now) {
    Output& out = outputs_[output];
    const std::uint32_t bit = first_ready(out, now);
    if (bit == no_bit) {
      put_off(state_, r_, LocalOutput(output));
      return true;
    }
    Input& in = inputs_[bit];
    Slot& place = slot(bit, in.head);
    const std::uint32_t vc = in.vcs >> 1;
    if (vc != in.vcs - 1) return false;  // Both VCs will do.
    Account& there = accounts_[output * vcs + vc];
    const Moving packet = Moving::from(place);
    const std::uint32_t size = packet.size();
    Input& far = state_.inputs[out.target + Vc(vc)];
    if (!has_room(there, out, size) && !count_credits(there, far, out, size, now)) return false;
    note_wait(output, in, packet, bit, now);
    const std::int64_t free_at = cross(out, bit, vc, size, now);
    if (far.head == far.tail || out.remote) [[unlikely]] {
      push_slowly(state_, worker_, place, {out, there, Vc(vc), now});
    } else {
      there.room -= static_cast<std::int32_t>(size);
      // Only written: the slot is cold, and reading it would wait.
      packet.move_to(slot(there, there.pushed++), now + out.delay, 1);
      ++far.tail;
    }
    leave(output, bit, place, packet, {now, free_at});
    return true;
  }

  // As PlainVisit::count_credits().
  [[gnu::always_inline]] bool count_credits(Account& there, const Input& far, const Output& out,
                                            std::uint32_t size, std::int64_t now) {
    std::uint16_t i = there.reclaim;
    std::uint32_t departed = there.departed;
    bool fits = false;
    // Two slots to a line: not more lines than it takes.
    while (i != far.head && (!fits || i % 2 != 0)) {
      const Slot& gone = slot(there, i);
      if (gone.head_at > now) break;
      departed = static_cast<std::uint32_t>(gone.route);
      ++i;
      const std::int32_t room = there.room + static_cast<std::int32_t>(departed - there.departed);
      fits = room >= static_cast<std::int32_t>(size) &&
             static_cast<std::uint16_t>(there.pushed - i) < out.packets_max;
    }
    __builtin_prefetch(&slot(there, i + 1u));
    there.room += static_cast<std::int32_t>(departed - there.departed);
    there.departed = departed;
    there.reclaim = i;
    return fits;
  }

  // As Visit::note_wait().
  [[gnu::always_inline]] void note_wait(std::uint32_t output, const Input& in, const Moving& packet,
                                        std::uint32_t bit, std::int64_t now) {
    if (!shape.waits) return;
    state_.waits[router_.first_output + LocalOutput(output)].add(
        packet.head_at + state_.setup.early_ps, in.ready_at,
        std::max(outputs_[output].free_at, crossbar_[bit / vcs]), now);
  }

  // A packet of this size, the candidate `bit`, crosses the output; returns the end of that.
  [[gnu::always_inline]] std::int64_t cross(Output& out, std::uint32_t bit, std::uint32_t vc,
                                            std::uint32_t size, std::int64_t now) {
    const std::int64_t free_at = now + size * state_.byte_ps;
    crossbar_[bit / vcs] = out.free_at = free_at;
    ++out.packets;
    out.bytes += size;
    out.pointer = static_cast<std::uint16_t>(bit + 1);
    out.last_vc = static_cast<std::uint8_t>(vc);
    return free_at;
  }

  struct Span {
    std::int64_t from, until;
  };
  // The packet leaves its place, which from now on holds the credit, and the next one moves up.
  [[gnu::always_inline]] void leave(std::uint32_t output, std::uint32_t bit, Slot& place,
                                    const Moving& packet, Span span) {
    Input& in = inputs_[bit];
    Output& out = outputs_[output];
    const std::int64_t held = state_.setup.machine.release == Release::tail ? packet.lag() : 0;
    const std::int64_t stamp = span.from + held + in.credit;
    place.head_at = stamp;
    place.route = in.departed += packet.size();
    const std::uint16_t head = ++in.head;
    if (in.remote | in.starved) [[unlikely]]
      tell_feeder(state_, worker_, in, stamp);
    const std::uint64_t mask = std::uint64_t{1} << bit;
    const std::uint64_t others = out.waiting & ~mask;
    std::int64_t& next = next_[Actor(1 + output)];
    bool more = head != in.tail;
    if (more) [[likely]] {
      Slot& follower = slot(bit, head);
      __builtin_prefetch(&slot(bit, head + 2u), 1);
      // Most are followed by one of the same message.
      if (follower.node == packet.node() && DimensionOrder::leads(packet.route)) [[likely]] {
        follower.route = DimensionOrder::follow(packet.route, follower.route);
        const std::int64_t ready = std::max(follower.head_at + state_.setup.early_ps, span.until);
        in.ready_at = ready;
        next = others != 0 ? span.until : ready;
        return;
      }
    }
    in.ready_at = span.until;
    out.waiting = others;
    router_.heads &= ~mask;
    next = others != 0 ? span.until : never_at;
    router_.active &= ~(std::uint64_t{others == 0} << (1 + output));
    if (more) route(state_, r_, LocalInput(bit), slot(bit, head));
  }

  // The output to the node decides; as hop(). See PlainVisit::pick_sink() for the choice of the VC.
  [[gnu::always_inline]] bool eject(std::int64_t now) {
    Output& out = outputs_[ports_];
    const std::uint32_t bit = first_ready(out, now);
    if (bit == no_bit) {
      put_off(state_, r_, LocalOutput(ports_));
      return true;
    }
    Input& in = inputs_[bit];
    Slot& place = slot(bit, in.head);
    const Moving packet = Moving::from(place);
    const std::uint32_t size = packet.size();
    Card& card = state_.cards[router_.first_card];
    if (card.even_size != size || card.even_at > now) return false;
    const std::uint32_t vc = out.last_vc ^ 1u;
    Account& there = accounts_[ports_ * vcs + vc];
    Input& sink = state_.inputs[out.target + Vc(vc)];
    if (sink.ready_at <= now) {
      there.room += static_cast<std::int32_t>(sink.departed - there.departed);
      there.departed = sink.departed;
      there.reclaim = there.pushed = first_position();
    } else if (!has_room(there, out, size)) {
      return false;
    }
    note_wait(ports_, in, packet, bit, now);
    const std::int64_t free_at = cross(out, bit, vc, size, now);
    const std::int64_t tail_at = now + packet.lag() + out.delay;
    const std::int64_t missing = card.missing - (size - state_.setup.header_bytes);
    // The place in the node's buffer keeps the credit only.
    Slot& gone = slot(there, there.pushed++);
    there.room -= static_cast<std::int32_t>(size);
    sink.head = sink.tail = there.pushed;
    sink.departed += size;
    sink.ready_at = tail_at + sink.credit;
    packet.move_to(gone, sink.ready_at, 0);
    gone.route = sink.departed;
    if (packet.message() != card.receiving || missing <= 0) {
      Slow::receive_slowly(state_, worker_, card, place, tail_at);
    } else {
      WEFT_CHECK(!state_.setup.facts.in_order || packet.sequence() == (card.received & 63));
      card.missing = missing;
      ++card.received;
      ++own_.counts.packets_delivered;
    }
    leave(ports_, bit, place, packet, {now, free_at});
    return true;
  }

  // The node's alarm rings; as hop().
  [[gnu::always_inline]] bool wake_node(std::int64_t now, Actor alarm) {
    ring_alarm(state_, worker_, r_, 0, now);
    if (next_[alarm] == never_at) router_.active &= ~(std::uint64_t{1} << alarm.value);
    return true;
  }

  // The card makes a packet of its first message; as hop().
  [[gnu::always_inline]] bool inject(std::int64_t now) {
    Card& card = state_.cards[router_.first_card];
    const std::uint32_t id = card.first;
    if (id == no_message) return false;
    const std::uint32_t output = ports_ + 1;
    Output& out = outputs_[output];
    Message& message = state_.messages[id];
    const std::int64_t unsent = message.unsent;
    const std::int64_t payload = std::min(unsent, state_.setup.machine.mtu.count);
    const auto size =
        static_cast<std::uint32_t>(std::max<std::int64_t>(payload + state_.setup.header_bytes, 1));
    const std::uint32_t vc = pick_own(out, card_vcs(state_, message.to), size, now);
    if (vc == vcs) return false;
    Account& there = accounts_[output * vcs + vc];
    const std::uint32_t bit = ports_ * vcs + vc;
    Input& in = inputs_[bit];
    const std::int64_t sent_at = now + size * state_.byte_ps;
    const std::int64_t free_at = sent_at + message.gap;
    const std::int64_t lag =
        std::max<std::int64_t>(size - state_.setup.flit_bytes, 0) * state_.byte_ps;
    Slot& place = slot(bit, there.pushed++);
    Moving{
        .head_at = 0,
        .lag_node = (std::uint64_t{message.to} << 32) | static_cast<std::uint32_t>(lag),
        .route = message.tosses ? packet_state(state_, card, message) : first_state(card, message),
        .message_packed = (std::uint64_t{Slot::pack(size, message.made++)} << 32) | id}
        .move_to(place, now + out.delay, 0);
    if (shape.waits)
      note_card_wait(state_, router_.first_output + LocalOutput(output), message, now);
    if (unsent == message.size) message.entered_at = now;
    message.unsent = unsent - payload;
    card.sent_at = sent_at;
    out.free_at = free_at;
    out.last_vc = static_cast<std::uint8_t>(vc);
    ++out.packets;
    out.bytes += size;
    there.room -= static_cast<std::int32_t>(size);
    ++own_.counts.packets_sent;
    next_[Actor(1 + output)] = free_at;
    if (in.head == in.tail++) {
      if (message.tosses)
        route(state_, r_, LocalInput(bit), place);
      else
        set_out(bit, message, now + out.delay);
    }
    if (unsent != payload) {
      own_.card_queues.pass_turn(card);
      return true;
    }
    end_message(state_, worker_, card, sent_at);
    if (card.first == no_message) {
      next_[Actor(1 + output)] = never_at;
      router_.active &= ~(std::uint64_t{1} << (1 + output));
    }
    return true;
  }

  // As packet_state(), with the first hop already taken into account.
  static std::uint64_t first_state(Card& card, const Message& message) {
    ++card.packets;
    return (std::uint64_t{message.place} << 32) | message.first_state;
  }
  // As route() for a packet of this message, which the card has just sent to an empty buffer.
  [[gnu::always_inline]] void set_out(std::uint32_t bit, const Message& message,
                                      std::int64_t head_at) {
    Input& in = inputs_[bit];
    Output& out = outputs_[message.first_output];
    in.vcs = message.first_vcs;
    in.ready_at = std::max(head_at + state_.setup.early_ps, in.ready_at);
    out.waiting |= std::uint64_t{1} << bit;
    router_.heads |= std::uint64_t{1} << bit;
    router_.active |= std::uint64_t{1} << (1 + message.first_output);
    std::int64_t& next = next_[Actor(1u + message.first_output)];
    next = std::min(next, std::max(in.ready_at, out.free_at));
  }

  // As pick_vc() for the card's own buffers; `vcs` for none.
  [[gnu::always_inline]] std::uint32_t pick_own(const Output& out, VcMask allowed,
                                                std::uint32_t size, std::int64_t now) {
    const std::uint32_t other = out.last_vc ^ 1u, last = out.last_vc;
    const std::int32_t room_other = room_own(out, other, allowed, now);
    const std::int32_t room_last = room_own(out, last, allowed, now);
    const bool better = __builtin_expect_with_probability(room_last > room_other, 1, 0.5) != 0;
    const std::uint32_t best = better ? last : other;
    return std::max(room_last, room_other) >= static_cast<std::int32_t>(size) ? best : vcs;
  }
  // Bytes that the card may send to this VC now; -1 if it may send no packet.
  [[gnu::always_inline]] std::int32_t room_own(const Output& out, std::uint32_t vc, VcMask allowed,
                                               std::int64_t now) {
    Account& there = accounts_[(ports_ + 1) * vcs + vc];
    Input& in = inputs_[ports_ * vcs + vc];
    if (there.reclaim != in.head) {
      std::uint16_t i = there.reclaim;
      std::uint32_t departed = there.departed;
      do {
        const Slot& gone = slot(there, i);
        if (gone.head_at > now) break;
        departed = static_cast<std::uint32_t>(gone.route);
      } while (++i != in.head);
      there.room += static_cast<std::int32_t>(departed - there.departed);
      there.departed = departed;
      there.reclaim = i;
      // All that was there has gone: begin again with the slot that is in the cache.
      if (i == there.pushed) there.reclaim = there.pushed = in.head = in.tail = first_position();
    }
    const bool fits = static_cast<std::uint16_t>(there.pushed - there.reclaim) < out.packets_max;
    return fits && ((allowed >> vc) & 1) != 0 ? there.room : -1;
  }

  State& state_;
  Router& router_;
  Output* const outputs_;
  Account* const accounts_;  // By output and VC.
  Input* const inputs_;
  Slot* const slots_;  // First slot of input 0; each input has a ring.
  const Slice<std::int64_t, Actor> next_;
  std::int64_t* const crossbar_;  // By input port.
  Worker& own_;
  const std::uint64_t through_;  // Candidates that go before the others; 0: all are equal.
  const RingShape rings_;
  const std::uint32_t ports_;
  const int worker_;
  const RouterIndex r_;
};

}  // namespace weft::detail
