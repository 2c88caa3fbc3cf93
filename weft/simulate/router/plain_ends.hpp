// SPDX-License-Identifier: Apache-2.0
// The two ends of a packet's way in plain routers: cards, and outputs to nodes. Part of
// a plain visit.
#pragma once

#include <weft/simulate/router/plain_seek.hpp>
#include <weft/simulate/router/plain_visit.hpp>

namespace weft::detail {

// As reclaim() for a buffer in this router, whose slots are at hand: credits are counted as they
// come.
template <PlainKind kind>
inline void PlainVisit<kind>::reclaim_near(Account& there, Input& in, std::int64_t now) {
  std::uint16_t i = there.reclaim;
  if (i == in.head) return;
  std::uint32_t departed = there.departed;
  do {
    const Slot& gone = slot(there, i);
    if (gone.head_at > now) break;
    departed = static_cast<std::uint32_t>(gone.route);
    ++i;
  } while (i != in.head);
  there.room += static_cast<std::int32_t>(departed - there.departed);
  there.departed = departed;
  // All that was there has gone: begin again with the slot that is in the cache.
  if (i == there.pushed) i = there.pushed = in.head = in.tail = first_position_;
  there.reclaim = i;
}

// As pick_vc() for a buffer in this router, of a node or of a card, that has room; else none.
template <PlainKind kind>
inline Vc PlainVisit<kind>::pick_near(LocalOutput output, VcMask vcs, std::int64_t size,
                                      std::int64_t now) {
  const Output& out = outputs_[output];
  const Slice<Input, Vc> targets(&state_.inputs[out.target]);
  Vc best = no_vc;
  auto most = static_cast<std::int32_t>(size) - 1;
  Vc vc(out.last_vc);
  for (std::uint32_t v = 0; v < vcs_; ++v) {
    vc.value = kind.vcs == 2 ? vc.value ^ 1 : vc.value + 1 < vcs_ ? vc.value + 1 : 0;
    if (((vcs >> vc.value) & 1) == 0) continue;
    Account& there = account(output, vc);
    reclaim_near(there, targets[vc], now);
    const bool fits = static_cast<std::uint16_t>(there.pushed - there.reclaim) < out.packets_max;
    const bool better = __builtin_expect_with_probability((there.room > most) & fits, 1, 0.5) != 0;
    most = better ? there.room : most;
    best = better ? vc : best;
  }
  return best;
}

// As pick_near() for the buffer of a node. Its credits come back in the order in which packets went
// there. So of two VCs, packets of one size take turns: the one that was not last has as much room
// as the other, or more by one packet.
template <PlainKind kind>
inline Vc PlainVisit<kind>::pick_sink(LocalOutput output, VcMask vcs, std::int64_t size,
                                      std::int64_t now) {
  if constexpr (!kind.cube) return pick_near(output, vcs, size, now);
  const Output& out = outputs_[output];
  const Card& card = card_behind(output);
  if (card.even_size != size || card.even_at > now) return pick_near(output, vcs, size, now);
  const Vc vc(out.last_vc ^ 1u);
  Account& there = account(output, vc);
  Input& sink = state_.inputs[out.target + vc];
  // All credits are back: begin again with the slot that is in the cache.
  if (sink.ready_at <= now) {
    there.room += static_cast<std::int32_t>(sink.departed - there.departed);
    there.departed = sink.departed;
    there.reclaim = there.pushed = sink.head = sink.tail = first_position_;
  }
  return has_room(there, out, size) ? vc : pick_near(output, vcs, size, now);
}

// One output to a node decides which packet goes.
template <PlainKind kind>
inline void PlainVisit<kind>::serve_node(LocalOutput output, std::int64_t now) {
  const Output& out = outputs_[output];
  WEFT_DCHECK(out.free_at <= now);  // Whatever sets its time sees to that.
  std::int64_t possible_at = never_at;
  for (Mask left = waiting(output); left != 0;) {
    const LocalInput bit = first_of(left, out);
    left &= ~mask_of(bit);
    const Input& in = inputs_[bit];
    std::int64_t at = std::max(in.ready_at, crossbar(bit));
    if (at <= now) {
      Slot& place = head(bit);
      if constexpr (kind.commits) {
        grant_to_node(output, bit, committed_vc(in), place, now);
        return;
      }
      const std::int64_t size = place.size();
      VcPick pick{never_at, kind.even ? pick_sink(output, in.vcs, size, now) : no_vc};
      if (!pick.vc.exists()) pick = pick_vc(state_, index_of(output), in.vcs, size, now);
      if (pick.vc.exists()) {
        grant_to_node(output, bit, pick.vc, place, now);
        return;
      }
      at = pick.possible_at;
    }
    possible_at = std::min(possible_at, at);
  }
  times_.schedule(actor_of(output), possible_at);
}

// The node takes the packet at once, so all that is left of it is a credit.
template <PlainKind kind>
inline void PlainVisit<kind>::grant_to_node(LocalOutput output, LocalInput bit, Vc vc, Slot& place,
                                            std::int64_t now) {
  Output& out = outputs_[output];
  const Moving packet = Moving::from(place);
  note_wait(index_of(output), inputs_[bit], packet, crossbar(bit), now);
  const Passage passage = cross(out, bit, packet, now);
  crossbar(bit) = passage.free_at;
  const bool in_turn = vc.value != out.last_vc;
  use_vc(output, out, vc, passage.free_at);
  if (Card& card = card_behind(output);
      kind.cube && (card.even_size != packet.size() || !in_turn)) {
    card.even_size = packet.size();
    card.even_at = passage.tail_at + out.delay + state_.inputs[out.target + vc].credit;
  }
  hand_to_node(output, vc, place, packet, passage);
  depart(output, bit, place, packet, passage);
  if constexpr (kind.commits) let_go<kind>(state_, worker_, r_, {output, vc, packet.size(), now});
}

// The packet takes room in the buffer of the node behind this output, or behind its cable.
template <PlainKind kind>
inline void PlainVisit<kind>::hand_to_node(LocalOutput output, Vc vc, const Slot& place,
                                           const Moving& packet, const Passage& passage) {
  const Output& out = outputs_[output];
  Account& there = account(output, vc);
  there.room -= static_cast<std::int32_t>(packet.size());
  ++there.pushed;
  const std::int64_t arrived = passage.tail_at + out.delay;
  receive(card_behind(output), place, packet, arrived);
  // With one rate the tail is always here in time.
  const std::int64_t tail_after = kind.even ? passage.follow : passage.tail_at - passage.start_at;
  note_node_credit(state_, out.target + vc, place, tail_after, arrived);
}

// As receive_packet(), which is called for the first packet of a message and the last, and when
// another message came in between.
template <PlainKind kind>
inline void PlainVisit<kind>::receive(Card& card, const Slot& place, const Moving& packet,
                                      std::int64_t tail) {
  const std::int64_t missing = card.missing - (packet.size() - state_.setup.header_bytes);
  if (packet.message() != card.receiving || missing <= 0) {
    receive_slowly(state_, worker_, card, place, tail);
    return;
  }
  WEFT_CHECK(!state_.setup.facts.in_order || packet.sequence() == (card.received & 63));
  card.missing = missing;
  ++card.received;
  ++own_.counts.packets_delivered;
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
  if (!kind.timed) route_heads();  // It may have made one.
  if (times_[actor_of(output)] == never_at) times_.stop(actor_of(output));
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
  Card& card = card_at_output(output);
  const std::uint32_t id = card.first;
  // It may have waited for two VCs and been done with one of them.
  if (id == no_message) {
    times_.stop(actor_of(output));
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
  Slot& packet = slot(there, there.pushed);
  packet = {.head_at = now + out.delay,
            .tail_after = static_cast<std::uint32_t>(follow),
            .node = message.to,
            .route = packet_state(state_, card, message),
            .message = id,
            .packed = Slot::pack(size, message.made++)};
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
  ++own_.counts.packets_sent;
  times_[actor_of(output)] = free_at;
  const LocalInput bit = LocalInput((ports_ + local) * vcs_) + vc;
  Input& in = inputs_[bit];
  const bool empty = in.head == in.tail;
  ++in.tail;
  if (empty) new_head(bit, in.ready_at);
  if (unsent == payload) {
    end_message(state_, worker_, card, sent_at);
    if (card.first == no_message) times_.stop(actor_of(output));
  } else {
    own_.card_queues.pass_turn(card);
  }
}

}  // namespace weft::detail
