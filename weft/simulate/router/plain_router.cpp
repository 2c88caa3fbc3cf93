// SPDX-License-Identifier: Apache-2.0
// Visits of plain routers, and their outputs to other routers. A hop executes a few hundred
// instructions and waits for memory a few times: both must be few.
#include "weft/simulate/router/plain_router.hpp"

#include <weft/simulate/router/cube_visit.hpp>
#include <weft/simulate/router/plain_ends.hpp>
#include <weft/simulate/router/plain_queues.hpp>
#include <weft/simulate/router/plain_visit.hpp>

namespace weft::detail {

template <PlainKind kind>
inline void PlainVisit<kind>::run(Reach reach) {
  router_.wake_at = visiting;
  if (!kind.timed) route_heads();
  std::int64_t now;
  for (;;) {
    const Due due = kind.wide ? next_due(next_, group_at_, router_.actors)
                              : first_of_active(next_, router_.active);
    const Actor actor = due.actor;
    now = due.at;
    // What a policy sees depends on credits.
    if (now >= reach.sure_ps && (kind.timed || now >= reach.far_ps || router_.starved != 0)) break;
    const LocalOutput output(actor.value - 1);
    if (output.value < (kind.buffered ? ends_ : ports_)) [[likely]] {
      if (!serve(output, now, reach.sure_ps)) break;
    } else if (kind.buffered && output.value < 2 * ends_) {
      if (!serve_cable(output, now, reach.sure_ps)) break;
    } else if (kind.timed && actor == routing_actor) {
      route_due(now);
    } else {
      act(output, now);
    }
    if constexpr (kind.wide) {
      const std::uint32_t group = actor.value / actors_per_group;
      group_at_[group] = first_of_group(next_, router_.actors, group).at;
    }
  }
  Base::sleep_until(now);
}

// What is not an output to another router.
template <PlainKind kind>
inline void PlainVisit<kind>::act(LocalOutput output, std::int64_t now) {
  if (!kind.buffered && output.value < ends_) {
    serve_node(output, now);
  } else if (output.value < router_.outputs) {
    serve_own_card(output, now);
  } else {
    ring_alarm(state_, worker_, r_, output.value - router_.outputs, now);
    if (next_[actor_of(output)] == never_at) set_idle(output);
  }
}

template <PlainKind kind>
inline void PlainVisit<kind>::route_heads() {
  for (std::uint64_t heads = std::exchange(router_.unrouted, 0); heads != 0; heads &= heads - 1) {
    const LocalInput bit(static_cast<std::uint32_t>(std::countr_zero(heads)));
    route(bit, inputs_[bit].ready_at, 0);
  }
}

// Routes the heads whose time has come.
template <PlainKind kind>
inline void PlainVisit<kind>::route_due(std::int64_t now) {
  std::int64_t later = never_at;
  for (std::uint64_t heads = router_.unrouted; heads != 0; heads &= heads - 1) {
    const LocalInput bit(static_cast<std::uint32_t>(std::countr_zero(heads)));
    const std::int64_t at = state_.route_at(inputs_[bit]);
    if (at > now) {
      later = std::min(later, at);
      continue;
    }
    router_.unrouted &= ~mask_of(bit);
    route(bit, inputs_[bit].ready_at, now);
  }
  next_[routing_actor] = later;
  if (later == never_at) set_inactive(routing_actor);
}

// One output decides which packet goes; false: that depends on a credit which may be on its way.
template <PlainKind kind>
inline bool PlainVisit<kind>::serve(LocalOutput output, std::int64_t now, std::int64_t sure) {
  const Output& out = outputs_[output];
  WEFT_DCHECK(out.free_at <= now);  // Whatever sets its time sees to that.
  std::int64_t possible_at = never_at;
  for (std::uint64_t left = out.waiting; left != 0;) {
    const LocalInput bit = first_of(left, out);
    left &= ~mask_of(bit);
    const Input& in = inputs_[bit];
    std::int64_t at = std::max(in.ready_at, crossbar(bit));
    if (at <= now) [[likely]] {
      Slot& place = head(bit);
      const std::int64_t size = place.size();
      const VcPick pick = kind.buffered ? pick_slowly(state_, index_of(output), in.vcs, size, now)
                                        : pick_far(output, in, size, now, sure);
      if (pick.vc.exists()) [[likely]] {
        grant(output, bit, pick.vc, place, now);
        return true;
      }
      if (pick.possible_at == unknown_at) return false;
      at = pick.possible_at;
    }
    possible_at = std::min(possible_at, at);
  }
  schedule(output, possible_at);
  return true;
}

// A VC of a buffer at another router.
template <PlainKind kind>
inline VcPick PlainVisit<kind>::pick_far(LocalOutput output, const Input& in, std::int64_t size,
                                         std::int64_t now, std::int64_t sure) {
  const OutputIndex index = index_of(output);
  if (kind.vcs == 2 ? in.vcs < 3 : std::has_single_bit(in.vcs)) [[likely]] {
    const Vc vc(kind.vcs == 2 ? in.vcs >> 1 : static_cast<std::uint32_t>(std::countr_zero(in.vcs)));
    const bool taken = !kind.even && state_.vc_free(index, vc) > now;
    if (!taken && has_room(account(output, vc), outputs_[output], size)) [[likely]]
      return {now, vc};
    if (!taken && count_credits(state_, index, vc, size, now)) return {now, vc};
  }
  // What is known of a neighbour's buffer may not be all.
  if (now >= sure) return {unknown_at, no_vc};
  return pick_slowly(state_, index, in.vcs, size, now);
}

// Is there room, with the credits that have come back by now? They are counted oldest first: where
// the oldest stands is known before the visit, so it has been prefetched by now.
template <PlainKind kind>
bool PlainVisit<kind>::count_credits(State& state, OutputIndex output, Vc vc, std::int64_t size,
                                     std::int64_t now) {
  const Output& out = state.outputs[output];
  Account& there = state.accounts[state.channel(output, vc)];
  const std::uint16_t gone = state.inputs[out.target + vc].head;
  std::uint16_t i = there.reclaim;
  std::uint32_t departed = there.departed;
  bool fits = false;
  // Two slots to a line: not more lines than it takes.
  while (i != gone && (!fits || i % 2 != 0)) {
    const Slot& slot = state.slot(there, i);
    if (slot.head_at > now) break;
    departed = static_cast<std::uint32_t>(slot.route);
    ++i;
    const std::int32_t room = there.room + static_cast<std::int32_t>(departed - there.departed);
    fits = room >= size && static_cast<std::uint16_t>(there.pushed - i) < out.packets_max;
  }
  __builtin_prefetch(&state.slot(there, i + 1u), 1);
  there.room += static_cast<std::int32_t>(departed - there.departed);
  there.departed = departed;
  there.reclaim = i;
  return fits;
}

template <PlainKind kind>
VcPick PlainVisit<kind>::pick_slowly(State& state, OutputIndex output, VcMask vcs,
                                     std::int64_t size, std::int64_t now) {
  if ((vcs & (vcs - 1)) != 0) return pick_vc(state, output, vcs, size, now);
  const Vc vc(static_cast<std::uint32_t>(std::countr_zero(vcs)));
  const std::int64_t at = room_at(state, output, vc, size, now);
  return {at, at <= now ? vc : no_vc};
}

// The head of `bit` goes through `output` now.
template <PlainKind kind>
inline void PlainVisit<kind>::grant(LocalOutput output, LocalInput bit, Vc vc, Slot& place,
                                    std::int64_t now) {
  Output& out = outputs_[output];
  const Moving packet = Moving::from(place);
  note_wait(index_of(output), inputs_[bit], packet, crossbar(bit), now);
  const Passage passage = cross(out, bit, packet, now);
  crossbar(bit) = passage.free_at;
  use_vc(output, out, vc, passage.free_at);
  if constexpr (kind.buffered) {
    push_to_queue(output, vc, packet, passage);
  } else {
    push_packet(out, vc, account(output, vc), packet, passage);
  }
  depart(output, bit, place, packet, passage);
}

// Into the buffer at the other end; as push().
template <PlainKind kind>
inline void PlainVisit<kind>::push_packet(const Output& out, Vc vc, Account& there,
                                          const Moving& packet, const Passage& passage) {
  Input& in = state_.inputs[out.target + vc];
  there.room -= static_cast<std::int32_t>(packet.size());
  const bool empty = in.head == in.tail;
  if (empty && !out.remote) [[unlikely]]
    rewind(there, in, rings_.first_position(out.router), passage.start_at);
  // Only written: the slot is cold, and reading it would wait.
  Slot& place = slot(there, there.pushed++);
  const std::int64_t head_at = passage.start_at + out.delay;
  packet.move_to(place, head_at, kind.cube || packet.hops() < Slot::hops_max ? 1 : 0);
  if (!kind.even) place.tail_after = static_cast<std::uint32_t>(passage.tail_at - passage.start_at);
  if (out.remote) [[unlikely]] {
    mail_packet(state_, worker_, out, vc, place);
    return;
  }
  ++in.tail;
  if (!empty) [[likely]]
    return;
  Router& neighbour = state_.routers[out.router];
  neighbour.unrouted |= mask_of(out.target + vc - neighbour.first_input);
  if constexpr (kind.timed) {
    const std::int64_t at = state_.route_at(in);
    state_.bring_forward(out.router, routing_actor, at);
    state_.wake(worker_, out.router, at);
  } else {
    state_.wake(worker_, out.router, state_.ready_at(in, head_at));
  }
}

// A buffer that is empty, and all of whose credits are back, begins again with its first slot. In
// light traffic one line of each ring is then all that is ever used.
template <PlainKind kind>
inline void PlainVisit<kind>::rewind(Account& there, Input& in, std::uint16_t first,
                                     std::int64_t now) {
  if (in.ready_at + in.credit > now) return;  // No credit is later.
  there.room += static_cast<std::int32_t>(in.departed - there.departed);
  there.departed = in.departed;
  there.pushed = there.reclaim = in.head = in.tail = first;
}

namespace {

constexpr std::uint32_t actors_max_narrow = 64;

template <PlainKind kind>
void visit_plain(State& state, int worker, RouterIndex r, Reach reach) {
  ++state.worker(worker).counts.visits;
  PlainVisit<kind>(state, worker, r).run(reach);
}

template <CubeShape shape>
void visit_cube(State& state, int worker, RouterIndex r, Reach reach) {
  ++state.worker(worker).counts.visits;
  CubeVisit<shape>(state, worker, r).run(reach);
}

// Nearly all are of three dimensions, and have buffers of 16 packets.
template <bool waits>
VisitFunction cube_visit(const State& state) {
  const auto have = [&](std::uint32_t ports) {
    return std::all_of(state.routers.begin(), state.routers.end(), [&](const Router& router) {
      return router.nodes == 1 && (ports == 0 || router.ports == ports);
    });
  };
  if (have(6) && state.rings.bits == 4 && state.rings.block_bits == 4)
    return visit_cube<CubeShape{.ports = 6, .ring_bits = 4, .waits = waits}>;
  if (have(0)) return visit_cube<CubeShape{.ports = 0, .ring_bits = 0, .waits = waits}>;
  return visit_plain<PlainKind{.vcs = 2, .even = true, .waits = waits, .cube = true}>;
}

template <bool waits>
VisitFunction fastest_visit(const State& state, bool even) {
  if (!even) return visit_plain<PlainKind{.vcs = 0, .even = false, .waits = waits}>;
  // A mesh gives a packet the choice of both VCs, which CubeVisit leaves to PlainVisit.
  if (state.all_up && state.setup.vcs == 2 && state.dimension_order != nullptr &&
      state.setup.facts.hops_max < static_cast<int>(Slot::hops_max))
    return cube_visit<waits>(state);
  if (state.setup.vcs == 2) return visit_plain<PlainKind{.vcs = 2, .even = true, .waits = waits}>;
  return visit_plain<PlainKind{.vcs = 0, .even = true, .waits = waits}>;
}

template <bool timed, bool wide>
VisitFunction less_usual_visit(bool even) {
  if (even)
    return visit_plain<PlainKind{
        .vcs = 0, .even = true, .waits = true, .timed = timed, .wide = wide}>;
  return visit_plain<PlainKind{
      .vcs = 0, .even = false, .waits = true, .timed = timed, .wide = wide}>;
}

template <bool timed, bool wide>
VisitFunction buffered_visit() {
  return visit_plain<PlainKind{
      .vcs = 0, .even = false, .waits = true, .timed = timed, .wide = wide, .buffered = true}>;
}

// One for each kind would take the compiler too long.
VisitFunction find_visit(const State& state) {
  const bool even = state.byte_ps != 0 && !state.setup.holds_vcs;
  const bool wide =
      std::any_of(state.routers.begin(), state.routers.end(),
                  [](const Router& router) { return router.actors > actors_max_narrow; });
  if (state.setup.buffered) {
    if (state.setup.timed)
      return wide ? buffered_visit<true, true>() : buffered_visit<true, false>();
    return wide ? buffered_visit<false, true>() : buffered_visit<false, false>();
  }
  if (state.setup.timed)
    return wide ? less_usual_visit<true, true>(even) : less_usual_visit<true, false>(even);
  if (wide) return less_usual_visit<false, true>(even);
  return state.measures_waits ? fastest_visit<true>(state, even)
                              : fastest_visit<false>(state, even);
}

}  // namespace

bool fits_plain(const State& state) {
  const Setup& setup = state.setup;
  return setup.options_max == 1 && state.words == 1 && state.crossbar_lanes == 1 &&
         setup.policy.lines() == nullptr && setup.machine.arbitration != Arbitration::age;
}

VisitFunction use_plain(State& state) {
  state.counts_waiting = false;
  const DimensionOrder* const dor = state.setup.policy.dimension_order();
  // Ports at the edge of a mesh have no cable, and no packet is sent there.
  if (state.special_visits && state.setup.graph.all_up() && dor != nullptr &&
      dor->places().bits() <= 32)
    state.dimension_order = dor;
  const std::int64_t byte_ps = state.wires[0].byte_ps;
  const auto same_rate = [&](const Wire& wire) { return wire.byte_ps == byte_ps; };
  if (std::all_of(state.wires.begin(), state.wires.end(), same_rate)) state.byte_ps = byte_ps;
  return find_visit(state);
}

}  // namespace weft::detail
