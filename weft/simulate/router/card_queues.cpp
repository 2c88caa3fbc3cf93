// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/card_queues.hpp"

#include <utility>

#include <weft/base/check.hpp>

namespace weft::detail {

void CardQueues::post(Card& card, std::uint32_t id) {
  Message& message = messages_[id];
  if (card.first == no_message) {
    card.first = card.last = card.end = message.turn = id;
    return;
  }
  if (order_ == SendOrder::queue ||
      (card.first == card.last && messages_[card.end].to == message.to)) {
    messages_[card.end].next = id;
    card.end = id;
    return;
  }
  if (card.first == card.last) ends_[key(messages_[card.end])] = card.end;
  const auto [end, is_new] = ends_.try_emplace(key(message), id);
  if (is_new)
    join_ring(card, id);
  else
    messages_[std::exchange(end->second, id)].next = id;
}

// Behind the queue that had its turn last: all others come first.
void CardQueues::join_ring(Card& card, std::uint32_t id) const {
  messages_[id].turn = card.first;
  messages_[card.last].turn = id;
  card.last = id;
}

void CardQueues::finish(Card& card) {
  const Message& done = messages_[card.first];
  const std::uint32_t successor = done.next;
  if (order_ == SendOrder::queue) {
    card.first = successor;
  } else if (card.first == card.last) {
    card.first = card.last = successor;
    if (successor != no_message) messages_[successor].turn = successor;
  } else if (successor == no_message) {
    leave_ring(card);
  } else {
    messages_[successor].turn = done.turn;
    messages_[card.last].turn = successor;
    card.last = successor;
    card.first = done.turn;
  }
}

void CardQueues::leave_ring(Card& card) {
  const Message& done = messages_[card.first];
  messages_[card.last].turn = done.turn;
  card.first = done.turn;
  ends_.erase(key(done));
  if (card.first != card.last) return;
  const auto only = ends_.find(key(messages_[card.first]));
  WEFT_CHECK(only != ends_.end());
  card.end = only->second;
  ends_.erase(only);
}

}  // namespace weft::detail
