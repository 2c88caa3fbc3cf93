// SPDX-License-Identifier: Apache-2.0
// The two ends of a packet's way in plain routers: cards, and outputs to nodes. Part of plain.cpp.
#pragma once

#include <weft/simulate/router/plain.hpp>

namespace weft::detail {

// As Engine::pick_vc() for a buffer in this router, of a node or of a card, that has room; else -1.
// Its slots are at hand, so credits are counted as they come.
template <std::uint32_t fixed_vcs, bool even>
inline int Engine::PlainVisit<fixed_vcs, even>::pick_near(std::uint32_t output, VcMask vcs,
                                                          std::int64_t size, std::int64_t now) {
  const Output& out = outputs_[output];
  Input* const targets = &engine_.inputs_[out.target];
  Slot* const slots = &engine_.slots_[0];
  int best = -1;
  auto most = static_cast<std::int32_t>(size) - 1;
  std::uint32_t vc = out.last_vc;
  for (std::uint32_t v = 0; v < vcs_; ++v) {
    vc = fixed_vcs == 2 ? vc ^ 1 : vc + 1 < vcs_ ? vc + 1 : 0;
    if (((vcs >> vc) & 1) == 0) continue;
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
    // Nothing is left of all that was there: begin again with the slot that is in the cache.
    if (i == there.pushed) i = there.pushed = targets[vc].head = targets[vc].tail = home_;
    there.room = room;
    there.departed = departed;
    there.reclaim = i;
    const bool fits = static_cast<std::uint16_t>(there.pushed - i) < out.packets_max;
    const bool better = __builtin_expect_with_probability((room > most) & fits, 1, 0.5) != 0;
    most = better ? room : most;
    best = better ? static_cast<int>(vc) : best;
  }
  return best;
}

// One output to a node decides who goes.
template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::give(std::uint32_t output, std::int64_t now) {
  const Output& out = outputs_[output];
  WEFT_DCHECK(out.free_at <= now);  // All that sets its time sees to that.
  std::int64_t possible_at = never_at;
  for (std::uint64_t left = out.waiting; left != 0;) {
    const std::uint32_t bit = first_of(left, out);
    left &= ~(std::uint64_t{1} << bit);
    const Input& in = inputs_[bit];
    std::int64_t at = std::max(in.ready_at, crossbar(bit));
    if (at <= now) {
      const std::int64_t size = head(bit).size();
      std::int64_t room_at = never_at;
      int vc = even ? pick_near(output, in.vcs, size, now) : -1;
      if (vc < 0) vc = engine_.pick_vc(router_.first_output + output, in.vcs, size, now, room_at);
      if (vc >= 0) {
        grant_node(output, bit, static_cast<std::uint32_t>(vc), now);
        return;
      }
      at = room_at;
    }
    possible_at = std::min(possible_at, at);
  }
  put_off(output, possible_at);
}

// The node takes it at once, so all that is left of it is a credit.
template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::grant_node(std::uint32_t output, std::uint32_t bit,
                                                            std::uint32_t vc, std::int64_t now) {
  Output& out = outputs_[output];
  const Slot packet = read_head(bit);
  const Passage passage = cross(out, bit, packet, now);
  out.last_vc = static_cast<std::uint8_t>(vc);
  if (!even && engine_.held_) {
    engine_.vc_free_at_[std::size_t{router_.first_output + output} * vcs_ + vc] =
        passage.free_at + engine_.wires_[out.wire].vc_alloc;
  }
  Account& there = account(output, vc);
  there.room -= static_cast<std::int32_t>(packet.size());
  ++there.pushed;
  const std::int64_t arrived = passage.tail_at + out.delay;
  receive(engine_.cards_[router_.first_card + output - ports_], packet, arrived);
  engine_.note_credit(out.target + vc, packet, arrived);
  leave(output, bit, packet, passage);
}

// As Engine::receive(), which is asked for the first packet of a message and the last, and when
// another message came in between.
template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::receive(Card& card, const Slot& packet,
                                                         std::int64_t tail) {
  const std::int64_t missing = card.missing - (packet.size() - engine_.header_bytes_);
  if (packet.message != card.receiving || missing <= 0) {
    receive_end(engine_, worker_, card, packet, tail);
    return;
  }
  WEFT_CHECK(!engine_.facts_.in_order || packet.sequence() == (card.received & 63));
  card.missing = missing;
  ++card.received;
  ++engine_.crews_[static_cast<std::size_t>(worker_)].counts.packets_delivered;
}

template <std::uint32_t fixed_vcs, bool even>
void Engine::PlainVisit<fixed_vcs, even>::receive_end(Engine& engine, int worker, Card& card,
                                                      const Slot& packet, std::int64_t tail) {
  MessagePools& messages = *engine.messages_;
  if (card.receiving != no_message) {
    messages[card.receiving].missing = card.missing;
    messages[card.receiving].received = card.received;
    card.receiving = no_message;
  }
  const Message& message = messages[packet.message];
  const bool more = message.missing > packet.size() - engine.header_bytes_;
  engine.receive(worker, packet, tail);
  if (!more) return;
  card.receiving = packet.message;
  card.missing = message.missing;
  card.received = message.received;
}

template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::make_any(std::uint32_t output, std::int64_t now) {
  engine_.serve_card(worker_, r_, static_cast<int>(output), now);
  if (next_[1 + output] == never_at) rest(output);
}

// A card makes a packet of the first message that it has.
template <std::uint32_t fixed_vcs, bool even>
inline void Engine::PlainVisit<fixed_vcs, even>::make(std::uint32_t output, std::int64_t now) {
  if (!even) {
    make_any(output, now);
    return;
  }
  Output& out = outputs_[output];
  const std::uint32_t local = output - ports_ - router_.nodes;
  Card& card = engine_.cards_[router_.first_card + local];
  const std::uint32_t id = card.first;
  // It may have waited for two VCs and been done with one of them.
  if (id == no_message) {
    rest(output);
    return;
  }
  Message& message = (*engine_.messages_)[id];
  const std::int64_t mtu = engine_.machine_.mtu.count;
  const std::int64_t unsent = message.unsent;
  const std::int64_t payload = std::min(unsent, mtu);
  const std::int64_t size = std::max<std::int64_t>(payload + engine_.header_bytes_, 1);
  const int picked = pick_near(output, engine_.card_vcs(message.to), size, now);
  if (picked < 0) {
    make_any(output, now);
    return;
  }
  const auto vc = static_cast<std::uint32_t>(picked);
  const std::int64_t sent_at = now + size * engine_.byte_ps_;
  const std::int64_t follow = (size - std::min(size, engine_.flit_bytes_)) * engine_.byte_ps_;
  const std::int64_t free_at = sent_at + message.gap;
  Account& there = account(output, vc);
  Slot& packet = engine_.slots_[there.ring + (there.pushed & ring_mask_)];
  packet = {.head_at = now + out.delay,
            .tail_after = static_cast<std::uint32_t>(follow),
            .node = message.to,
            .route = engine_.packet_state(card, message.to),
            .message = id,
            .packed = Slot::pack(size, (message.size - unsent) / mtu)};
  if (unsent == message.size) message.entered_at = now;
  message.unsent = unsent - payload;
  out.free_at = free_at;
  out.last_vc = static_cast<std::uint8_t>(vc);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  there.room -= static_cast<std::int32_t>(size);
  ++there.pushed;
  ++engine_.crews_[static_cast<std::size_t>(worker_)].counts.packets_sent;
  next_[1 + output] = free_at;
  const std::uint32_t bit = (ports_ + local) * vcs_ + vc;
  Input& in = inputs_[bit];
  const bool empty = in.head == in.tail;
  ++in.tail;
  if (empty) route(bit, in.ready_at);
  if (unsent == payload) {
    engine_.end_message(worker_, card, sent_at);
    if (card.first == no_message) rest(output);
  }
}

}  // namespace weft::detail
