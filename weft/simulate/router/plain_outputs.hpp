// SPDX-License-Identifier: Apache-2.0
// Visits of plain routers, and their outputs to other routers. A hop executes a few hundred
// instructions and waits for memory a few times: both must be few.
#pragma once

#include <weft/simulate/router/plain_seek.hpp>
#include <weft/simulate/router/plain_visit.hpp>

namespace weft::detail {

template <PlainKind kind>
inline void PlainVisit<kind>::run(Reach reach) {
  router_.wake_at = visiting;
  if (!kind.timed) route_heads();
  std::int64_t now;
  for (;;) {
    const Due due = times_.first();
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
      if constexpr (kind.commits)
        times_.schedule(routing_actor, seek_vcs<kind>(state_, worker_, r_, now));
      else
        route_due(now);
    } else {
      act(output, now);
    }
    times_.note_acted(actor);
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
  } else if (kind.commits && output.value == std::uint32_t{router_.outputs} + router_.nodes) {
    state_.news->act(worker_, r_, now);
    if (times_[actor_of(output)] == never_at) times_.stop(actor_of(output));
  } else {
    ring_alarm(state_, worker_, r_, output.value - router_.outputs, now);
    if (times_[actor_of(output)] == never_at) times_.stop(actor_of(output));
  }
}

template <PlainKind kind>
inline void PlainVisit<kind>::route_heads() {
  const Mask all = load_mask<Mask>(unrouted());
  store_mask(unrouted(), Mask{0});
  for (Mask heads = all; heads != 0; heads &= heads - 1) {
    const LocalInput bit(first_bit(heads));
    route(bit, inputs_[bit].ready_at, 0);
  }
}

// Routes the heads whose time has come.
template <PlainKind kind>
inline void PlainVisit<kind>::route_due(std::int64_t now) {
  std::int64_t later = never_at;
  for (Mask heads = load_mask<Mask>(unrouted()); heads != 0; heads &= heads - 1) {
    const LocalInput bit(first_bit(heads));
    const std::int64_t at = due_[bit];
    if (at > now) {
      later = std::min(later, at);
      continue;
    }
    Masks<kind.words>::clear(unrouted(), bit);
    route(bit, inputs_[bit].ready_at, now);
  }
  times_.schedule(routing_actor, later);
}

// One output decides which packet goes; false: that depends on a credit which may be on its way.
template <PlainKind kind>
inline bool PlainVisit<kind>::serve(LocalOutput output, std::int64_t now, std::int64_t sure) {
  const Output& out = outputs_[output];
  WEFT_DCHECK(out.free_at <= now);  // Whatever sets its time sees to that.
  std::int64_t possible_at = never_at;
  for (Mask left = waiting(output); left != 0;) {
    const LocalInput bit = first_of(left, out);
    left &= ~mask_of(bit);
    const Input& in = inputs_[bit];
    std::int64_t at = std::max(in.ready_at, crossbar(bit));
    if (at <= now) [[likely]] {
      Slot& place = head(bit);
      if constexpr (kind.commits) {  // It has its VC, and room in it.
        grant(output, bit, committed_vc(in), place, now);
        return true;
      }
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
  times_.schedule(actor_of(output), possible_at);
  return true;
}

// A VC of a buffer at another router.
template <PlainKind kind>
inline VcPick PlainVisit<kind>::pick_far(LocalOutput output, const Input& in, std::int64_t size,
                                         std::int64_t now, std::int64_t sure) {
  const OutputIndex index = index_of(output);
  if (kind.vcs == 2 ? in.vcs < 3 : (in.vcs & (in.vcs - 1)) == 0) [[likely]] {
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
  if ((vcs & (vcs - 1)) != 0) {
    if (kind.whole) return pick_vc_in_order<!kind.even>(state, output, vcs, size, now);
    return pick_vc(state, output, vcs, size, now);
  }
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
  if constexpr (kind.commits) let_go<kind>(state_, worker_, r_, {output, vc, packet.size(), now});
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
  Masks<kind.words>::set(kind.words == 1 ? &neighbour.unrouted : state_.unrouted(out.router),
                         out.target + vc - neighbour.first_input);
  if constexpr (kind.timed) {
    const std::int64_t at = state_.route_at(in, head_at);
    state_.head_due[out.target + vc] = at;
    if (kind.commits) state_.route_due[out.router] = std::min(state_.route_due[out.router], at);
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

}  // namespace weft::detail
