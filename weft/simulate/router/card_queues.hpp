// SPDX-License-Identifier: Apache-2.0
// Which message a card cuts its next packet from. Messages to one destination leave in the order in
// which they were posted. Between destinations, the card either keeps that order too, or takes a
// packet of each in turn, as cards do that serve a queue pair per destination.
//
// Turns: the first messages of all queues form a ring (Message::turn). Card::first has the turn,
// Card::last had it before. So serving costs the same however many queues there are; only posting a
// message has to find the queue of its destination.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <weft/simulate/router/hardware.hpp>
#include <weft/simulate/router/messages.hpp>

namespace weft::detail {

class CardQueues {
 public:
  CardQueues(MessagePools& messages, SendOrder order) : messages_(messages), order_(order) {}

  // Message `id` is the card's, behind all others to its destination.
  void post(Card& card, std::uint32_t id);
  // A packet of the card's first message has left, and there is more of it.
  void pass_turn(Card& card) const {
    if (order_ == SendOrder::queue || card.first == card.last) return;
    card.last = card.first;
    card.first = messages_[card.first].turn;
  }
  // The card's first message has left.
  void finish(Card& card);

 private:
  static std::uint64_t key(const Message& message) {
    return (std::uint64_t{message.from} << 32) | message.to;
  }
  void join_ring(Card& card, std::uint32_t id) const;
  void leave_ring(Card& card);

  MessagePools& messages_;
  const SendOrder order_;
  // The last message of each queue, of cards that have several. Of a card that has one it stands in
  // Card::end: most messages find their card idle, and need no look-up.
  std::unordered_map<std::uint64_t, std::uint32_t> ends_;
};

}  // namespace weft::detail
