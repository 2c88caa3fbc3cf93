// SPDX-License-Identifier: Apache-2.0
// Network cards of the flit model: messages become packets, which enter the router flit by flit,
// and become messages again at the other end. Nodes have the numbers of Placement.
//
// A message's record is made by the sender's worker, which gives it away with the packets: what the
// sender still writes, the receiver does not touch before the last packet has come.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/simulate/flits/state.hpp>
#include <weft/simulate/router/card_queues.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft::flits {

struct Card {
  detail::Card queue;
  std::uint32_t packet = none;  // Being sent.
  std::uint32_t sent = 0;       // Flits of it.
  std::uint32_t vc = 0;         // Its VC, or that of the last packet.
  std::int64_t free_at_ps = 0;  // A slow link or a pause after a packet.
  std::uint64_t packets = 0, bytes = 0;
};

// Of all workers.
struct CardTables {
  CardTables(const Setup& setup, const Tables& tables);

  detail::MessagePools messages;
  std::vector<Card> cards;                  // By node.
  std::vector<std::uint32_t> router_input;  // By node: the first input VC behind its card.
};

// The cards of one worker's nodes.
class Cards {
 public:
  Cards(State& state, CardTables& tables, Host& host, std::uint64_t seed);

  // A message that is not sent yet; its number.
  std::uint32_t make_message(const Outgoing& outgoing, Time born);
  // Now it is.
  void post(std::uint32_t message);
  // It was delivered.
  void free_message(std::uint32_t message) { tables_.messages.free(message); }

  bool busy() const { return !active_.empty(); }
  // Every card that can sends a flit.
  void serve();
  // What arrives at a node; numbers of VCs as in State.
  void take_credit(const CreditArrival& credit);
  void take_flit(const FlitArrival& flit);

  NodeLinkCount count(std::uint32_t node) const;
  const NetworkCounts& counts() const { return counts_; }

 private:
  void serve_card(std::uint32_t node);
  bool begin_packet(Card& card, std::uint32_t node);
  std::int64_t next_vc(const Card& card, std::uint32_t node, std::uint32_t flits) const;
  void send_flit(Card& card, std::uint32_t node);
  void end_packet(Card& card);
  void receive(std::uint32_t packet);
  std::uint32_t first_vc(std::uint32_t node) const {
    return state_.router_vcs() + node * state_.setup.vcs;
  }

  State& state_;
  CardTables& tables_;
  Host& host_;
  const Rng bits_;
  detail::CardQueues queues_;
  NumberSet active_;  // Cards that may have a flit to send.
  NetworkCounts counts_;
};

}  // namespace weft::flits
