// SPDX-License-Identifier: Apache-2.0
// Network cards: messages become packets as the card drains them, and packets become messages
// again. Alarms of the nodes.
#pragma once

#include <cstdint>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// Network::send and Network::set_alarm.
void send_message(State& state, const Outgoing& outgoing, Time now);
void set_alarm(State& state, NodeId node, Time at);

// The alarm of the router's n-th node rings.
void ring_alarm(State& state, int worker, RouterIndex r, std::uint32_t n, std::int64_t now);
// The card at this output makes a packet of the first message that it has, if there is room for it.
void serve_card(State& state, int worker, RouterIndex r, LocalOutput output, std::int64_t now);
// The card makes a packet of the message now. If it could have done so earlier, it waited for room.
void note_card_wait(State& state, OutputIndex output, const Message& message, std::int64_t now);
// All packets of the card's first message are made; its last flit leaves at `sent_at`.
void end_message(State& state, int worker, Card& card, std::int64_t sent_at);
// A packet for a node of this worker, whose last flit arrives at `tail`.
void receive_packet(State& state, int worker, const Slot& packet, std::int64_t tail);

inline CardIndex card_at(const Router& router, LocalOutput card_output) {
  return CardIndex(router.first_card.value + card_output.value - router.first_card_output().value);
}

// Packets for one node stay in one VC where the rest of the way keeps their order.
inline VcMask card_vcs(const State& state, std::uint32_t to) {
  return state.setup.facts.in_order ? VcMask{1} << (to % state.setup.vcs) : state.setup.all_vcs;
}

// Flight::state of a new packet: random bits, and where dimension order is computed by the router,
// the place of the destination. Bits that decide nothing are not drawn.
inline std::uint64_t packet_state(const State& state, Card& card, const Message& message) {
  const std::uint64_t counter = (std::uint64_t{card.node} << 32) | card.packets++;
  if (state.dimension_order == nullptr) return state.setup.packet_bits.at(counter);
  const std::uint64_t place = std::uint64_t{message.place} << 32;
  return message.tosses ? place | (state.setup.packet_bits.at(counter) & 0xffffffff) : place;
}

}  // namespace weft::detail
