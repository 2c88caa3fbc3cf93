// SPDX-License-Identifier: Apache-2.0
// Visits of plain routers, and their outputs to other routers. A hop executes a few hundred
// instructions and waits for memory a few times: few of both is what counts here.
#include "weft/simulate/router/plain.hpp"

#include <weft/simulate/router/plain_ends.hpp>

namespace weft::detail {

template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::run(Reach reach) {
  router_.wake_at = visiting;
  Wishes& wishes = engine_.crews_[static_cast<std::size_t>(worker_)].wishes;
  std::int64_t now;
  for (;;) {
    if (router_.fresh != 0) [[unlikely]]
      route_fresh();
    now = never_at;
    std::uint32_t actor = 0;
    for (std::uint64_t set = router_.active; set != 0; set &= set - 1) {
      const auto a = static_cast<std::uint32_t>(std::countr_zero(set));
      const std::int64_t at = next_[a];
      // Who is next is as good as random: select, do not branch.
      const bool sooner = __builtin_expect_with_probability(at < now, 1, 0.5) != 0;
      actor = sooner ? a : actor;
      now = sooner ? at : now;
    }
    wishes.fetch_two();
    if (now >= reach.sure_ps && (now >= reach.far_ps || router_.starved != 0)) break;
    const std::uint32_t output = actor - 1;
    if (output < ports_) [[likely]] {
      if (!serve(output, now, reach.sure_ps)) break;
    } else if (output < ports_ + router_.nodes) {
      give(output, now);
    } else if (output < router_.outputs) {
      make(output, now);
    } else {
      engine_.ring_alarm(worker_, r_, static_cast<int>(output - router_.outputs), now);
      if (next_[actor] == never_at) rest(output);
    }
  }
  router_.wake_at = never_at;
  if (now < never_at) engine_.wake(worker_, r_, now);
}

template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::route_fresh() {
  for (std::uint64_t fresh = std::exchange(router_.fresh, 0); fresh != 0; fresh &= fresh - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(fresh));
    route(bit, inputs_[bit].ready_at);
  }
}

// One output decides who goes; false: that hangs on a credit which may be on its way.
template <std::uint32_t fixed_vcs, bool even>
inline bool Engine::PlainVisit<fixed_vcs, even>::serve(std::uint32_t output, std::int64_t now,
                                                       std::int64_t sure) {
  const Output& out = outputs_[output];
  WEFT_DCHECK(out.free_at <= now);  // All that sets its time sees to that.
  std::int64_t possible_at = never_at;
  for (std::uint64_t left = out.waiting; left != 0;) {
    const std::uint32_t bit = first_of(left, out);
    left &= ~(std::uint64_t{1} << bit);
    const Input& in = inputs_[bit];
    std::int64_t at = std::max(in.ready_at, crossbar(bit));
    if (at <= now) [[likely]] {
      const Pick pick = pick_vc(output, in, head(bit).size(), now, sure);
      if (pick.vc >= 0) [[likely]] {
        grant(output, bit, static_cast<std::uint32_t>(pick.vc), now);
        return true;
      }
      if (pick.possible_at == unknown_at) return false;
      at = pick.possible_at;
    }
    possible_at = std::min(possible_at, at);
  }
  put_off(output, possible_at);
  return true;
}

template <std::uint32_t fixed_vcs, bool even>
inline auto Engine::PlainVisit<fixed_vcs, even>::pick_vc(std::uint32_t output, const Input& in,
                                                         std::int64_t size, std::int64_t now,
                                                         std::int64_t sure) -> Pick {
  const std::uint32_t global = router_.first_output + output;
  if ((in.vcs & (in.vcs - 1)) == 0) [[likely]] {
    const int vc = std::countr_zero(in.vcs);
    const bool taken = !even && engine_.vc_free_at(global, vc) > now;
    if (!taken && has_room(account(output, static_cast<std::uint32_t>(vc)), outputs_[output], size))
        [[likely]]
      return {now, vc};
    if (!taken && count_credits(engine_, global, vc, size, now)) return {now, vc};
  }
  // What is known of a neighbour's buffer may not be all.
  if (now >= sure) return {unknown_at, -1};
  return look_closer(engine_, global, in.vcs, size, now);
}

// Is there room, with the credits that have come back by now? They are counted oldest first: where
// that one stands is known before the visit, so it has been fetched by now (Engine::expect).
template <std::uint32_t fixed_vcs, bool even>
bool Engine::PlainVisit<fixed_vcs, even>::count_credits(Engine& engine, std::uint32_t output,
                                                        int vc, std::int64_t size,
                                                        std::int64_t now) {
  const Output& out = engine.outputs_[output];
  Account& there =
      engine.accounts_[std::size_t{output} * engine.vcs_ + static_cast<std::uint32_t>(vc)];
  const std::uint16_t gone = engine.inputs_[out.target + static_cast<std::uint32_t>(vc)].head;
  const Slot* const ring = &engine.slots_[there.ring];
  std::uint16_t i = there.reclaim;
  std::uint32_t departed = there.departed;
  bool fits = false;
  // Two slots to a line: not more lines than it takes.
  while (i != gone && (!fits || i % 2 != 0)) {
    const Slot& slot = ring[i & engine.ring_mask_];
    if (slot.head_at > now) break;
    departed = static_cast<std::uint32_t>(slot.route);
    ++i;
    const std::int32_t room = there.room + static_cast<std::int32_t>(departed - there.departed);
    fits = room >= size && static_cast<std::uint16_t>(there.pushed - i) < out.packets_max;
  }
  __builtin_prefetch(&ring[(i + 1u) & engine.ring_mask_], 1);
  there.room += static_cast<std::int32_t>(departed - there.departed);
  there.departed = departed;
  there.reclaim = i;
  return fits;
}

template <std::uint32_t fixed_vcs, bool even>
auto Engine::PlainVisit<fixed_vcs, even>::look_closer(Engine& engine, std::uint32_t output,
                                                      VcMask vcs, std::int64_t size,
                                                      std::int64_t now) -> Pick {
  Pick pick{never_at, -1};
  if ((vcs & (vcs - 1)) != 0) {
    pick.vc = engine.pick_vc(output, vcs, size, now, pick.possible_at);
  } else {
    pick.possible_at = engine.room_at(output, std::countr_zero(vcs), size, now);
    if (pick.possible_at <= now) pick.vc = std::countr_zero(vcs);
  }
  return pick;
}

// The head of `bit` goes through `output` now.
template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::grant(std::uint32_t output, std::uint32_t bit,
                                                       std::uint32_t vc, std::int64_t now) {
  Output& out = outputs_[output];
  const Slot packet = read_head(bit);
  const Passage passage = cross(out, bit, packet, now);
  out.last_vc = static_cast<std::uint8_t>(vc);
  if (!even && engine_.held_) {
    engine_.vc_free_at_[std::size_t{router_.first_output + output} * vcs_ + vc] =
        passage.free_at + engine_.wires_[out.wire].vc_alloc;
  }
  push(out, vc, account(output, vc), packet, passage);
  leave(output, bit, packet, passage);
}

// Into the buffer at the other end.
template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::push(const Output& out, std::uint32_t vc,
                                                      Account& there, const Slot& packet,
                                                      const Passage& passage) {
  Input& in = engine_.inputs_[out.target + vc];
  there.room -= static_cast<std::int32_t>(packet.size());
  const bool empty = in.head == in.tail;
  if (empty && !out.remote) [[unlikely]]
    rewind(there, in, home(out.router), passage.start_at);
  // Only written: the slot is cold, and whoever reads from it waits.
  Slot& place = engine_.slots_[there.ring + (there.pushed++ & ring_mask_)];
  const std::int64_t head_at = passage.start_at + out.delay;
  place.head_at = head_at;
  place.tail_after = static_cast<std::uint32_t>(passage.tail_at - passage.start_at);
  place.node = packet.node;
  place.route = packet.route;
  place.message = packet.message;
  place.packed = Slot::one_hop_more(packet.packed);
  if (out.remote) [[unlikely]] {
    engine_.mail_packet(worker_, out, vc, place);
    return;
  }
  ++in.tail;
  if (!empty) [[likely]]
    return;
  Router& peer = engine_.routers_[out.router];
  peer.fresh |= std::uint64_t{1} << (out.target + vc - peer.first_input);
  engine_.wake(worker_, out.router, engine_.ready_at(in, head_at));
}

// A buffer that is empty, and all of whose credits are back, begins again with its first slot. In
// light traffic one line of each ring is then all that is ever used.
template <std::uint32_t fixed_vcs, bool even>
void Engine::PlainVisit<fixed_vcs, even>::rewind(Account& there, Input& in, std::uint16_t first,
                                                 std::int64_t now) {
  if (in.ready_at + in.credit > now) return;  // No credit is later.
  there.room += static_cast<std::int32_t>(in.departed - there.departed);
  there.departed = in.departed;
  there.pushed = there.reclaim = in.head = in.tail = first;
}

template <std::uint32_t fixed_vcs, bool even>
void Engine::visit_plain(int worker, std::uint32_t r, Reach reach) {
  ++crews_[static_cast<std::size_t>(worker)].counts.visits;
  PlainVisit<fixed_vcs, even>(*this, worker, r).run(reach);
}
template void Engine::visit_plain<0, false>(int, std::uint32_t, Reach);
template void Engine::visit_plain<0, true>(int, std::uint32_t, Reach);
template void Engine::visit_plain<2, true>(int, std::uint32_t, Reach);

}  // namespace weft::detail
