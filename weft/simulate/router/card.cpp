// SPDX-License-Identifier: Apache-2.0
// Network cards: messages become packets as the card drains them, and packets become messages
// again.
#include <algorithm>

#include <weft/simulate/router/flow.hpp>

namespace weft::detail {

void Engine::serve_card(int worker, std::uint32_t r, int output, std::int64_t now) {
  const Router& router = routers_[r];
  const std::uint32_t global = router.first_output + static_cast<std::uint32_t>(output);
  Output& out = outputs_[global];
  Card& card = cards_[router.first_card +
                      static_cast<std::uint32_t>(output + router.nodes - router.outputs)];
  std::int64_t& next = next_of(r, 1 + output);
  if (card.first == no_message) {
    next = never_at;
    return;
  }
  if (out.free_at > now) {
    next = out.free_at;
    return;
  }
  Message& message = (*messages_)[card.first];
  const std::int64_t payload = std::min(message.unsent, machine_.mtu.count);
  const std::int64_t size = std::max<std::int64_t>(payload + header_bytes_, 1);
  std::int64_t possible_at = never_at;
  const int vc = pick_vc(global, card_vcs(message.to), size, now, possible_at);
  if (vc < 0) {
    next = possible_at;
    return;
  }
  const Wire& wire = wires_[out.wire];
  const std::int64_t flit = wire.serialise_ps(std::min(size, flit_bytes_));
  const std::int64_t tail = now + wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0));
  if (message.unsent == message.size) message.entered_at = now;
  Slot packet = {};
  packet.head_at = now + wire.delay;
  packet.tail_after = static_cast<std::uint32_t>(tail - now);
  packet.node = message.to;
  packet.route = packet_state(card, message.to);
  packet.message = card.first;
  packet.packed = Slot::pack(size, (message.size - message.unsent) / machine_.mtu.count);
  message.unsent -= payload;
  out.free_at = tail + flit + message.gap;
  out.last_vc = static_cast<std::uint8_t>(vc);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  Account& account = accounts_[std::size_t{global} * vcs_ + static_cast<std::uint32_t>(vc)];
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  ++crews_[static_cast<std::size_t>(worker)].counts.packets_sent;
  if (message.unsent == 0) end_message(worker, card, tail + flit);
  next = card.first == no_message ? never_at : out.free_at;
  push(worker, out, vc, packet);
}

// The card's first message has been cut; its last flit leaves at `sent_at`.
void Engine::end_message(int worker, Card& card, std::int64_t sent_at) {
  const std::uint32_t id = card.first;
  const Message& message = (*messages_)[id];
  card.first = message.next;
  if (card.first == no_message) card.last = no_message;
  Packer* const letter =
      abroad_ != nullptr && !is_here(message.to) ? &announce_departure(id) : nullptr;
  host_.departed(
      worker, {NodeId(card.node), NodeId(message.to), message.cookie, Time::ps(sent_at), letter});
}

// A packet for a node of this worker, whose last flit arrives at `tail`.
void Engine::receive(int worker, const Slot& packet, std::int64_t tail) {
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  ++crew.counts.packets_delivered;
  Message& message = (*messages_)[packet.message];
  const bool ordered = !facts_.in_order || packet.sequence() == (message.received & 63);
  // A message of no bytes still needs a packet, which then carries nothing.
  message.missing -= message.size == 0 ? 0 : packet.size() - header_bytes_;
  ++message.received;
  WEFT_CHECK(ordered && message.missing >= 0 && message.to == packet.node);
  if (message.missing > 0) return;
  const int owner = MessagePools::owner(packet.message);
  const bool foreign = abroad_ != nullptr && owner != 0;
  if (foreign) await_departure(message);
  Delivery d;
  d.from = NodeId(message.from);
  d.to = NodeId(message.to);
  d.size = Bytes{message.size};
  d.born = Time::ps(message.born_at);
  d.entered = Time::ps(message.entered_at);
  d.arrived = Time::ps(tail) + machine_.eject_delay;
  d.hops = static_cast<int>(packet.hops());
  d.cookie = message.cookie;
  if (foreign) {
    end_incoming(packet.message);
  } else if (owner == worker) {
    messages_->free(packet.message);
  } else {
    crew.mail[crew.side][static_cast<std::size_t>(owner)].messages.push_back(packet.message);
  }
  host_.delivered(worker, d);
}

void Engine::send(const Outgoing& outgoing, Time now) {
  const auto& [from, to, size, cookie, gap] = outgoing;
  WEFT_CHECK(from.index < graph_.node_count() && to.index < graph_.node_count() && size.count >= 0);
  WEFT_CHECK(is_here(from.index));
  const std::uint32_t r = router_of(from);
  const std::uint32_t id = messages_->make(worker_of(r));
  WEFT_CHECK(id != no_message);
  (*messages_)[id] = {.size = size.count,
                      .unsent = size.count,
                      .missing = size.count,
                      .gap = gap.in_ps(),
                      .from = from.index,
                      .to = to.index,
                      .next = no_message,
                      .received = 0,
                      .origin = 0,
                      .origin_id = 0,
                      .entered_at = 0,
                      .cookie = cookie,
                      .born_at = now.in_ps()};
  if (abroad_ != nullptr && !is_here(to.index)) announce(id);
  Card& card = card_of(from);
  const Router& router = routers_[r];
  const int output = router.outputs - router.nodes + graph_.local_index(from);
  if (card.first == no_message) {
    card.first = id;
    const Output& out = outputs_[router.first_output + static_cast<std::uint32_t>(output)];
    bring_forward(r, 1 + output, std::max(now.in_ps(), out.free_at));
    wake(worker_of(r), r, next_of(r, 1 + output));
  } else {
    (*messages_)[card.last].next = id;
  }
  card.last = id;
}

void Engine::set_alarm(NodeId node, Time at) {
  const std::uint32_t r = router_of(node);
  bring_forward(r, 1 + routers_[r].outputs + graph_.local_index(node), at.in_ps());
  if (at < Time::never()) wake(worker_of(r), r, at.in_ps());
}

void Engine::ring_alarm(int worker, std::uint32_t r, int local, std::int64_t now) {
  const NodeId node = graph_.nodes_at(RouterId(ids_[r]))[static_cast<std::size_t>(local)];
  std::int64_t& next = next_of(r, 1 + routers_[r].outputs + local);
  next = never_at;  // Before the call: it may set another.
  const Time again = host_.alarm(worker, node, Time::ps(now));
  WEFT_CHECK(again.in_ps() > now);
  next = std::min(next, again.in_ps());
}

}  // namespace weft::detail
