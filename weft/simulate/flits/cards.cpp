// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/cards.hpp"

#include <algorithm>

#include <weft/base/check.hpp>

namespace weft::flits {

CardTables::CardTables(const Setup& setup, const Tables& tables)
    : messages(tables.placement.workers()),
      cards(setup.graph.node_count()),
      router_input(setup.graph.node_count()) {
  const Placement& placement = tables.placement;
  for (std::uint32_t n = 0; n < cards.size(); ++n) {
    const NodeId id = placement.nodes[n];
    cards[n].queue = {.first = detail::no_message,
                      .last = detail::no_message,
                      .end = detail::no_message,
                      .packets = 0,
                      .node = id.index};
    const Router& router = tables.routers[placement.router_number[setup.graph.router_of(id).index]];
    const auto end =
        router.first_end + router.ports + static_cast<std::uint32_t>(setup.graph.local_index(id));
    router_input[n] = end * setup.vcs;
  }
}

Cards::Cards(State& state, CardTables& tables, Host& host, std::uint64_t seed)
    : state_(state),
      tables_(tables),
      host_(host),
      bits_(Rng(seed).stream("packet")),
      queues_(tables.messages, state.setup.machine.order),
      active_(state.placement.first_node[static_cast<std::size_t>(state.worker)],
              state.placement.first_node[static_cast<std::size_t>(state.worker) + 1]) {}

std::uint32_t Cards::make_message(const Outgoing& outgoing, Time born) {
  const std::uint32_t nodes = state_.setup.graph.node_count();
  WEFT_CHECK(outgoing.from.index < nodes && outgoing.to.index < nodes && outgoing.size.count >= 0);
  const std::uint32_t id = tables_.messages.make(state_.worker);
  WEFT_CHECK(id != detail::no_message);
  detail::Message& message = tables_.messages[id];
  message = {};
  message.size = message.unsent = message.missing = outgoing.size.count;
  message.gap = outgoing.gap.in_ps();
  message.from = outgoing.from.index;
  message.to = outgoing.to.index;
  message.next = message.turn = detail::no_message;
  message.cookie = outgoing.cookie;
  message.born_at = born.in_ps();
  return id;
}

void Cards::post(std::uint32_t message) {
  const std::uint32_t node = state_.placement.node_number[tables_.messages[message].from];
  queues_.post(tables_.cards[node].queue, message);
  active_.add(node);
}

void Cards::serve() {
  active_.each([&](std::uint32_t node) { serve_card(node); });
}

// A card that waits for credits sleeps until one comes.
void Cards::serve_card(std::uint32_t node) {
  Card& card = tables_.cards[node];
  const bool idle = card.packet == none && card.queue.first == detail::no_message;
  if (!idle && card.free_at_ps > state_.now_ps()) return;
  if (idle || (card.packet == none && !begin_packet(card, node)) ||
      state_.outputs[first_vc(node) + card.vc].credits == 0) {
    active_.remove(node);
    return;
  }
  send_flit(card, node);
}

// The next VC in turn for a packet of the card's first message. Cut-through: if there is room for
// the packet. None: -1.
std::int64_t Cards::next_vc(const Card& card, std::uint32_t node, std::uint32_t flits) const {
  const std::uint32_t vcs = state_.setup.vcs;
  const VcMask allowed = state_.setup.card_vcs(tables_.messages[card.queue.first].to);
  const bool whole = state_.setup.model.flow_control == FlowControl::cut_through;
  for (std::uint32_t i = 1; i <= vcs; ++i) {
    const std::uint32_t vc = (card.vc + i) % vcs;
    if (((allowed >> vc) & 1) == 0) continue;
    if (!whole || state_.outputs[first_vc(node) + vc].credits >= static_cast<std::int32_t>(flits))
      return vc;
  }
  return -1;
}

bool Cards::begin_packet(Card& card, std::uint32_t node) {
  const Setup& setup = state_.setup;
  detail::Message& message = tables_.messages[card.queue.first];
  const std::int64_t payload = std::min(message.unsent, setup.machine.mtu.count);
  const std::int64_t bytes = std::max<std::int64_t>(payload + setup.machine.header.count, 1);
  const std::uint32_t flits = setup.flits_of(bytes);
  const std::int64_t vc = next_vc(card, node, flits);
  if (vc < 0) return false;
  message.unsent -= payload;
  ++message.made;
  card.vc = static_cast<std::uint32_t>(vc);
  card.packet = state_.packets.make();
  card.sent = 0;
  state_.packets[card.packet] = {
      .message = card.queue.first,
      .to = message.to,
      .flits = flits,
      .bytes = static_cast<std::uint32_t>(bytes),
      .route = bits_.at((std::uint64_t{card.queue.node} << 32) | card.queue.packets++),
      .head_at = 0,
      .born_ps = message.born_at,
      .from = card.queue.node,
      .hops = 0};
  ++counts_.packets_sent;
  ++card.packets;
  return true;
}

void Cards::send_flit(Card& card, std::uint32_t node) {
  const Setup& setup = state_.setup;
  const Packet& packet = state_.packets[card.packet];
  const bool head = card.sent == 0;
  const bool tail = ++card.sent == packet.flits;
  detail::Message& message = tables_.messages[packet.message];
  if (head && message.made == 1) message.entered_at = state_.now_ps();
  --state_.outputs[first_vc(node) + card.vc].credits;
  state_.flits.push(
      state_.now + setup.timing.inject,
      {tables_.router_input[node] + card.vc, head || tail ? card.packet : none, head, tail});
  card.bytes += setup.bytes_of(packet, tail);
  card.free_at_ps = state_.busy_until(card.free_at_ps, setup.inject_ps);
  if (tail) end_packet(card);
}

void Cards::end_packet(Card& card) {
  card.packet = none;
  const detail::Message& message = tables_.messages[card.queue.first];
  const Time sent_at = Time::ps(card.free_at_ps);
  card.free_at_ps += message.gap;
  if (message.unsent > 0) {
    queues_.pass_turn(card.queue);
    return;
  }
  const Departure departure{NodeId(card.queue.node), NodeId(message.to), message.cookie, sent_at,
                            nullptr};
  queues_.finish(card.queue);
  host_.departed(state_.worker, departure);
}

void Cards::take_credit(const CreditArrival& credit) {
  state_.outputs[credit.output].credits += static_cast<std::int32_t>(credit.count);
  active_.add((credit.output - state_.router_vcs()) / state_.setup.vcs);
}

// The node's room is free again at once.
void Cards::take_flit(const FlitArrival& flit) {
  const Setup& setup = state_.setup;
  const std::uint32_t vc = (flit.input - state_.router_vcs()) % setup.vcs;
  const std::uint32_t node = (flit.input - state_.router_vcs()) / setup.vcs;
  state_.credits.push(state_.now + setup.timing.sink_credit, {tables_.router_input[node] + vc, 1});
  if (flit.tail) receive(flit.packet);
}

void Cards::receive(std::uint32_t id) {
  const Setup& setup = state_.setup;
  const Packet packet = state_.packets[id];
  state_.packets.free(id);
  ++counts_.packets_delivered;
  counts_.hops += packet.hops;
  detail::Message& message = tables_.messages[packet.message];
  // A message of no bytes still needs a packet, which then carries nothing.
  if (message.size > 0) message.missing -= packet.bytes - setup.machine.header.count;
  WEFT_CHECK(message.missing >= 0 && message.to == packet.to);
  if (message.missing > 0) return;
  Delivery d;
  d.from = NodeId(message.from);
  d.to = NodeId(message.to);
  d.size = Bytes{message.size};
  d.born = Time::ps(message.born_at);
  d.entered = Time::ps(message.entered_at);
  d.arrived = Time::ps(state_.now_ps()) + setup.machine.eject_delay;
  d.hops = static_cast<int>(std::min<std::uint32_t>(packet.hops, 255));
  d.cookie = message.cookie;
  const int maker = detail::MessagePools::owner(packet.message);
  if (maker == state_.worker)
    free_message(packet.message);
  else
    state_.mail.return_message(maker, packet.message);
  host_.delivered(state_.worker, d);
}

NodeLinkCount Cards::count(std::uint32_t node) const {
  const Card& card = tables_.cards[node];
  const std::uint32_t end = tables_.router_input[node] / state_.setup.vcs;
  const Passed& out =
      state_.setup.is_buffered() ? state_.buffers.ends[end].passed : state_.out_ends[end].passed;
  NodeLinkCount count;
  count.injected.packets = card.packets;
  count.injected.bytes = card.bytes;
  count.ejected.packets = out.packets;
  count.ejected.bytes = out.bytes;
  return count;
}

}  // namespace weft::flits
