// SPDX-License-Identifier: Apache-2.0
// The two ends of a packet's way in plain routers: cards, and outputs to nodes. Part of
// plain_router.cpp.
#pragma once

#include <weft/simulate/router/plain_visit.hpp>

namespace weft::detail {

// As pick_vc() for a buffer in this router, of a node or of a card, that has room; else none. Its
// slots are at hand, so credits are counted as they come.
template <PlainKind kind>
inline Vc PlainVisit<kind>::pick_near(LocalOutput output, VcMask vcs, std::int64_t size,
                                      std::int64_t now) {
  const Output& out = outputs_[output];
  const Slice<Input, Vc> targets(&state_.inputs[out.target]);
  Slot* const slots = state_.slots.begin();
  Vc best = no_vc;
  auto most = static_cast<std::int32_t>(size) - 1;
  Vc vc(out.last_vc);
  for (std::uint32_t v = 0; v < vcs_; ++v) {
    vc.value = kind.vcs == 2 ? vc.value ^ 1 : vc.value + 1 < vcs_ ? vc.value + 1 : 0;
    if (((vcs >> vc.value) & 1) == 0) continue;
    Account& there = account(output, vc);
    const std::uint16_t gone = targets[vc].head;
    std::uint16_t i = there.reclaim;
    std::uint32_t departed = there.departed;
    while (i != gone) {
      const Slot& slot = slots[there.ring + (i & ring_mask_)];
      if (slot.head_at > now) break;
      departed = static_cast<std::uint32_t>(slot.route);
      ++i;
    }
    const std::int32_t room = there.room + static_cast<std::int32_t>(departed - there.departed);
    // All that was there has gone: begin again with the slot that is in the cache.
    if (i == there.pushed) i = there.pushed = targets[vc].head = targets[vc].tail = first_position_;
    there.room = room;
    there.departed = departed;
    there.reclaim = i;
    const bool fits = static_cast<std::uint16_t>(there.pushed - i) < out.packets_max;
    const bool better = __builtin_expect_with_probability((room > most) & fits, 1, 0.5) != 0;
    most = better ? room : most;
    best = better ? vc : best;
  }
  return best;
}

// One output to a node decides which packet goes.
template <PlainKind kind>
inline void PlainVisit<kind>::serve_node(LocalOutput output, std::int64_t now) {
  const Output& out = outputs_[output];
  WEFT_DCHECK(out.free_at <= now);  // Whatever sets its time sees to that.
  std::int64_t possible_at = never_at;
  for (std::uint64_t left = out.waiting; left != 0;) {
    const LocalInput bit = first_of(left, out);
    left &= ~mask_of(bit);
    const Input& in = inputs_[bit];
    std::int64_t at = std::max(in.ready_at, crossbar(bit));
    if (at <= now) {
      const std::int64_t size = head(bit).size();
      VcPick pick{never_at, kind.even ? pick_near(output, in.vcs, size, now) : no_vc};
      if (!pick.vc.exists()) pick = pick_vc(state_, index_of(output), in.vcs, size, now);
      if (pick.vc.exists()) {
        grant_to_node(output, bit, pick.vc, now);
        return;
      }
      at = pick.possible_at;
    }
    possible_at = std::min(possible_at, at);
  }
  schedule(output, possible_at);
}

// The node takes the packet at once, so all that is left of it is a credit.
template <PlainKind kind>
inline void PlainVisit<kind>::grant_to_node(LocalOutput output, LocalInput bit, Vc vc,
                                            std::int64_t now) {
  Output& out = outputs_[output];
  const Slot packet = read_head(bit);
  note_wait(index_of(output), inputs_[bit], packet, crossbar(bit), now);
  const Passage passage = cross(out, bit, packet, now);
  crossbar(bit) = passage.free_at;
  use_vc(output, out, vc, passage.free_at);
  hand_to_node(output, vc, packet, passage);
  depart(output, bit, packet, passage);
}

// The packet takes room in the buffer of the node behind this output, or behind its cable.
template <PlainKind kind>
inline void PlainVisit<kind>::hand_to_node(LocalOutput output, Vc vc, const Slot& packet,
                                           const Passage& passage) {
  const Output& out = outputs_[output];
  Account& there = account(output, vc);
  there.room -= static_cast<std::int32_t>(packet.size());
  ++there.pushed;
  const std::int64_t arrived = passage.tail_at + out.delay;
  const std::uint32_t node = output.value - ports_ - (kind.buffered ? ends_ : 0);
  receive(state_.cards[CardIndex(router_.first_card.value + node)], packet, arrived);
  // With one rate the tail is always here in time.
  const std::int64_t tail_after = kind.even ? passage.follow : passage.tail_at - passage.start_at;
  note_node_credit(state_, out.target + vc, packet, tail_after, arrived);
}

// As receive_packet(), which is called for the first packet of a message and the last, and when
// another message came in between.
template <PlainKind kind>
inline void PlainVisit<kind>::receive(Card& card, const Slot& packet, std::int64_t tail) {
  const std::int64_t missing = card.missing - (packet.size() - state_.setup.header_bytes);
  if (packet.message != card.receiving || missing <= 0) {
    receive_slowly(state_, worker_, card, packet, tail);
    return;
  }
  WEFT_CHECK(!state_.setup.facts.in_order || packet.sequence() == (card.received & 63));
  card.missing = missing;
  ++card.received;
  ++state_.worker(worker_).counts.packets_delivered;
}

template <PlainKind kind>
void PlainVisit<kind>::receive_slowly(State& state, int worker, Card& card, const Slot& packet,
                                      std::int64_t tail) {
  MessagePools& messages = state.messages;
  if (card.receiving != no_message) {
    messages[card.receiving].missing = card.missing;
    messages[card.receiving].received = card.received;
    card.receiving = no_message;
  }
  const Message& message = messages[packet.message];
  const bool more = message.missing > packet.size() - state.setup.header_bytes;
  receive_packet(state, worker, packet, tail);
  if (!more) return;
  card.receiving = packet.message;
  card.missing = message.missing;
  card.received = message.received;
}

template <PlainKind kind>
inline void PlainVisit<kind>::serve_card_slowly(LocalOutput output, std::int64_t now) {
  serve_card(state_, worker_, r_, output, now);
  if (next_[actor_of(output)] == never_at) set_idle(output);
}

// A card makes a packet of the first message that it has; as serve_card().
template <PlainKind kind>
inline void PlainVisit<kind>::serve_own_card(LocalOutput output, std::int64_t now) {
  if (!kind.even) {
    serve_card_slowly(output, now);
    return;
  }
  Output& out = outputs_[output];
  const std::uint32_t local = output.value - ends_;
  Card& card = state_.cards[CardIndex(router_.first_card.value + local)];
  const std::uint32_t id = card.first;
  // It may have waited for two VCs and been done with one of them.
  if (id == no_message) {
    set_idle(output);
    return;
  }
  Message& message = state_.messages[id];
  const std::int64_t mtu = state_.setup.machine.mtu.count;
  const std::int64_t unsent = message.unsent;
  const std::int64_t payload = std::min(unsent, mtu);
  const std::int64_t size = std::max<std::int64_t>(payload + state_.setup.header_bytes, 1);
  const Vc vc = pick_near(output, card_vcs(state_, message.to), size, now);
  if (!vc.exists()) {
    serve_card_slowly(output, now);
    return;
  }
  const std::int64_t sent_at = now + size * state_.byte_ps;
  const std::int64_t follow = (size - std::min(size, state_.setup.flit_bytes)) * state_.byte_ps;
  const std::int64_t free_at = sent_at + message.gap;
  Account& there = account(output, vc);
  Slot& packet = state_.slots[there.ring + (there.pushed & ring_mask_)];
  packet = {.head_at = now + out.delay,
            .tail_after = static_cast<std::uint32_t>(follow),
            .node = message.to,
            .route = packet_state(state_, card, message.to),
            .message = id,
            .packed = Slot::pack(size, (message.size - unsent) / mtu)};
  if (kind.waits && state_.measures_waits) note_card_wait(state_, index_of(output), message, now);
  if (unsent == message.size) message.entered_at = now;
  message.unsent = unsent - payload;
  card.sent_at = sent_at;
  out.free_at = free_at;
  out.last_vc = static_cast<std::uint8_t>(vc.value);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  there.room -= static_cast<std::int32_t>(size);
  ++there.pushed;
  ++state_.worker(worker_).counts.packets_sent;
  next_[actor_of(output)] = free_at;
  const LocalInput bit = LocalInput((ports_ + local) * vcs_) + vc;
  Input& in = inputs_[bit];
  const bool empty = in.head == in.tail;
  ++in.tail;
  if (empty) new_head(bit, in.ready_at);
  if (unsent == payload) {
    end_message(state_, worker_, card, sent_at);
    if (card.first == no_message) set_idle(output);
  } else {
    state_.worker(worker_).card_queues.pass_turn(card);
  }
}

}  // namespace weft::detail
