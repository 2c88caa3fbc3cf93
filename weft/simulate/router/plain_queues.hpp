// SPDX-License-Identifier: Apache-2.0
// Output buffers of plain routers, and the cables that drain them. Part of a plain visit.
#pragma once

#include <weft/simulate/router/plain_visit.hpp>

namespace weft::detail {

// From the crossbar into the buffer of this output, which stands in the same router; as push().
template <PlainKind kind>
inline void PlainVisit<kind>::push_to_queue(LocalOutput output, Vc vc, const Moving& packet,
                                            const Passage& passage) {
  const Output& out = outputs_[output];
  Account& there = account(output, vc);
  Input& queue = state_.inputs[out.target + vc];
  there.room -= static_cast<std::int32_t>(packet.size());
  Slot& place = slot(there, there.pushed++);
  place = {.head_at = passage.start_at + out.delay,
           .tail_after = static_cast<std::uint32_t>(passage.tail_at - passage.start_at),
           .node = packet.node(),
           .route = packet.route,
           .message = packet.message(),
           .packed = packet.packed()};
  const bool empty = queue.head == queue.tail;
  ++queue.tail;
  if (!empty) return;
  const LocalOutput cable(output.value + ends_);
  const std::int64_t ready = first_in_queue(cable, queue, vc, place.head_at);
  times_.bring_forward(actor_of(cable), std::max(ready, outputs_[cable].free_at));
}

// A packet has come to the front of an output buffer; as queue_for_cable(). Returns when it can go.
template <PlainKind kind>
inline std::int64_t PlainVisit<kind>::first_in_queue(LocalOutput cable, Input& queue, Vc vc,
                                                     std::int64_t head_at) {
  queue.ready_at = std::max(queue.ready_at, head_at);
  queue.vcs = VcMask{1} << vc.value;
  outputs_[cable].waiting |= std::uint64_t{1} << vc.value;
  return queue.ready_at;
}

// A cable decides which of the buffers in front of it goes. False: that depends on a credit which
// may be on its way.
template <PlainKind kind>
inline bool PlainVisit<kind>::serve_cable(LocalOutput cable, std::int64_t now, std::int64_t sure) {
  const Output& out = outputs_[cable];
  std::int64_t possible_at = never_at;
  for (std::uint64_t left = out.waiting; left != 0;) {
    const std::uint64_t later = left & (~std::uint64_t{0} << (out.pointer % 64));
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : left)));
    left &= ~(std::uint64_t{1} << vc.value);
    const LocalInput bit = LocalInput(cable.value * vcs_) + vc;
    const Input& in = inputs_[bit];
    std::int64_t at = in.ready_at;
    if (at <= now) {
      const std::int64_t size = head(bit).size();
      const VcPick pick = cable.value < ends_ + ports_
                              ? pick_far(cable, in, size, now, sure)
                              : pick_slowly(state_, index_of(cable), in.vcs, size, now);
      if (pick.vc.exists()) {
        grant_cable(cable, vc, now);
        return true;
      }
      if (pick.possible_at == unknown_at) return false;
      at = pick.possible_at;
    }
    possible_at = std::min(possible_at, at);
  }
  times_.schedule(actor_of(cable), possible_at);
  return true;
}

// The first packet of the buffer of this VC goes down the cable now.
template <PlainKind kind>
inline void PlainVisit<kind>::grant_cable(LocalOutput cable, Vc vc, std::int64_t now) {
  Output& out = outputs_[cable];
  const LocalInput bit = LocalInput(cable.value * vcs_) + vc;
  Input& in = inputs_[bit];
  Slot& place = head(bit);
  const Moving packet = Moving::from(place);
  note_wait(index_of(cable), in, packet, 0, now);
  const Passage passage = cross(out, LocalInput(vc.value), packet, now);
  use_vc(cable, out, vc, passage.free_at);
  if (cable.value < ends_ + ports_) {
    push_packet(out, vc, account(cable, vc), packet, passage);
  } else {
    hand_to_node(cable, vc, place, packet, passage);
  }
  leave_slot(in, place, packet.size(), passage);
  out.waiting &= ~(std::uint64_t{1} << vc.value);
  const bool others = out.waiting != 0;
  std::int64_t next = others ? passage.free_at : never_at;
  if (in.head != in.tail) {
    const std::int64_t ready = first_in_queue(cable, in, vc, head(bit).head_at);
    if (!others) next = std::max(ready, passage.free_at);
  }
  times_.schedule(actor_of(cable), next);
}

}  // namespace weft::detail
