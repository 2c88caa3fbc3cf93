// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/cards.hpp"

#include <algorithm>

#include <weft/simulate/router/exchange.hpp>
#include <weft/simulate/router/flow.hpp>
#include <weft/simulate/router/remote_processes.hpp>

namespace weft::detail {

namespace {

// The packet leaves from `now` on; its first flit arrives at head_at.
Slot make_packet(State& state, Card& card, std::int64_t size, std::int64_t head_at,
                 std::int64_t tail_after) {
  Message& message = state.messages[card.first];
  return {.head_at = head_at,
          .tail_after = static_cast<std::uint32_t>(tail_after),
          .node = message.to,
          .route = packet_state(state, card, message),
          .message = card.first,
          .packed = Slot::pack(size, message.made++)};
}

void find_place(const State& state, Message& message) {
  const DimensionOrder& order = *state.dimension_order;
  const Graph& graph = state.setup.graph;
  const std::uint64_t from = order.places().word(graph.router_of(NodeId(message.from)));
  const std::uint64_t to = order.places().word(graph.router_of(NodeId(message.to)));
  message.place = static_cast<std::uint32_t>(to);
  message.tosses = order.tosses(from, to);
  const auto ports =
      static_cast<std::uint8_t>(graph.ports(graph.router_of(NodeId(message.from))).size());
  const Choice first = from == to ? Choice{.port = ports, .vcs = state.setup.all_vcs, .state = 0}
                                  : order.straight(from, to, 0, true);
  message.first_output = static_cast<std::uint8_t>(first.port);
  message.first_vcs = static_cast<std::uint8_t>(first.vcs);
  message.first_state = static_cast<std::uint32_t>(first.state);
}

}  // namespace

void serve_card(State& state, int worker, RouterIndex r, LocalOutput output, std::int64_t now) {
  const Router& router = state.routers[r];
  const Setup& setup = state.setup;
  const OutputIndex index = router.first_output + output;
  Output& out = state.outputs[index];
  Card& card = state.cards[card_at(router, output)];
  std::int64_t& next = state.next_of(r, actor_of(output));
  if (card.first == no_message) {
    next = never_at;
    return;
  }
  if (out.free_at > now) {
    next = out.free_at;
    return;
  }
  Message& message = state.messages[card.first];
  const std::int64_t payload = std::min(message.unsent, setup.machine.mtu.count);
  const std::int64_t size = std::max<std::int64_t>(payload + setup.header_bytes, 1);
  const auto pick_any = state.rings.is_whole() ? pick_vc<true> : pick_vc<false>;
  const VcPick pick = pick_any(state, index, card_vcs(state, message.to), size, now);
  if (!pick.vc.exists()) {
    next = pick.possible_at;
    return;
  }
  const Wire& wire = state.wires[out.wire];
  const std::int64_t flit = wire.serialise_ps(std::min(size, setup.flit_bytes));
  const std::int64_t follow = wire.serialise_ps(std::max<std::int64_t>(size - setup.flit_bytes, 0));
  const std::int64_t sent_at = now + follow + flit;
  if (state.measures_waits) note_card_wait(state, index, message, now);
  if (message.unsent == message.size) message.entered_at = now;
  const Slot packet = make_packet(state, card, size, now + wire.delay, follow);
  message.unsent -= payload;
  card.sent_at = sent_at;
  out.free_at = sent_at + message.gap;
  out.last_vc = static_cast<std::uint8_t>(pick.vc.value);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  Account& account = state.accounts[state.channel(index, pick.vc)];
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  ++state.worker(worker).counts.packets_sent;
  if (message.unsent == 0)
    end_message(state, worker, card, sent_at);
  else
    state.worker(worker).card_queues.pass_turn(card);
  next = card.first == no_message ? never_at : out.free_at;
  push(state, worker, out, pick.vc, packet);
}

void note_card_wait(State& state, OutputIndex output, const Message& message, std::int64_t now) {
  const std::int64_t ready_at = std::max(state.outputs[output].free_at, message.born_at);
  state.waits[output].add(ready_at, ready_at, ready_at, now);
}

void end_message(State& state, int worker, Card& card, std::int64_t sent_at) {
  const std::uint32_t id = card.first;
  const Message& message = state.messages[id];
  state.worker(worker).card_queues.finish(card);
  Packer* const notice = state.remote != nullptr && !state.is_here(message.to)
                             ? &state.remote->announce_departure(id)
                             : nullptr;
  state.setup.host.departed(
      worker, {NodeId(card.node), NodeId(message.to), message.cookie, Time::ps(sent_at), notice});
}

void receive_packet(State& state, int worker, const Slot& packet, std::int64_t tail) {
  const Setup& setup = state.setup;
  ++state.worker(worker).counts.packets_delivered;
  Message& message = state.messages[packet.message];
  const bool ordered = !setup.facts.in_order || packet.sequence() == (message.received & 63);
  // A message of no bytes still needs a packet, which then carries nothing.
  message.missing -= message.size == 0 ? 0 : packet.size() - setup.header_bytes;
  ++message.received;
  WEFT_CHECK(ordered && message.missing >= 0 && message.to == packet.node);
  if (message.missing > 0) return;
  const int owner = MessagePools::owner(packet.message);
  const bool foreign = state.remote != nullptr && owner != 0;
  if (foreign) state.remote->await_departure(message);
  Delivery d;
  d.from = NodeId(message.from);
  d.to = NodeId(message.to);
  d.size = Bytes{message.size};
  d.born = Time::ps(message.born_at);
  d.entered = Time::ps(message.entered_at);
  d.arrived = Time::ps(tail) + setup.machine.eject_delay;
  d.hops = static_cast<int>(packet.hops());
  d.cookie = message.cookie;
  if (foreign) {
    state.remote->end_incoming(packet.message);
  } else if (owner == worker) {
    state.messages.free(packet.message);
  } else {
    return_message(state, worker, packet.message);
  }
  setup.host.delivered(worker, d);
}

void send_message(State& state, const Outgoing& outgoing, Time now) {
  const auto& [from, to, size, cookie, gap] = outgoing;
  const Graph& graph = state.setup.graph;
  WEFT_CHECK(from.index < graph.node_count() && to.index < graph.node_count() && size.count >= 0);
  WEFT_CHECK(state.is_here(from.index));
  const RouterIndex r = state.placement.find(graph.router_of(from));
  const int worker = state.placement.worker_of(r);
  const std::uint32_t id = state.messages.make(worker);
  WEFT_CHECK(id != no_message);
  state.messages[id] = {.size = size.count,
                        .unsent = size.count,
                        .missing = size.count,
                        .gap = gap.in_ps(),
                        .to = to.index,
                        .next = no_message,
                        .turn = no_message,
                        .received = 0,
                        .made = 0,
                        .place = 0,
                        .tosses = false,
                        .first_output = 0,
                        .first_vcs = 0,
                        .first_state = 0,
                        .from = from.index,
                        .origin = 0,
                        .origin_id = 0,
                        .entered_at = 0,
                        .cookie = cookie,
                        .born_at = now.in_ps()};
  if (state.dimension_order != nullptr) find_place(state, state.messages[id]);
  if (state.remote != nullptr && !state.is_here(to.index)) state.remote->announce(id);
  const Router& router = state.routers[r];
  const LocalOutput output(router.first_card_output().value +
                           static_cast<std::uint32_t>(graph.local_index(from)));
  Card& card = state.cards[card_at(router, output)];
  const bool idle = card.first == no_message;
  state.worker(worker).card_queues.post(card, id);
  if (idle) {
    const Output& out = state.outputs[router.first_output + output];
    state.bring_forward(r, actor_of(output), std::max(now.in_ps(), out.free_at));
    state.wake(worker, r, state.next_of(r, actor_of(output)));
  }
}

void set_alarm(State& state, NodeId node, Time at) {
  const Graph& graph = state.setup.graph;
  const RouterIndex r = state.placement.find(graph.router_of(node));
  const auto n = static_cast<std::uint32_t>(graph.local_index(node));
  state.bring_forward(r, state.routers[r].alarm_actor(n), at.in_ps());
  if (at < Time::never()) state.wake(state.placement.worker_of(r), r, at.in_ps());
}

void ring_alarm(State& state, int worker, RouterIndex r, std::uint32_t n, std::int64_t now) {
  const NodeId node = state.setup.graph.nodes_at(state.placement.ids[r])[n];
  std::int64_t& next = state.next_of(r, state.routers[r].alarm_actor(n));
  next = never_at;  // Before the call: it may set another.
  const Time again = state.setup.host.alarm(worker, node, Time::ps(now));
  WEFT_CHECK(again.in_ps() > now);
  next = std::min(next, again.in_ps());
}

}  // namespace weft::detail
