// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flows/messages_in_flight.hpp"

#include <algorithm>
#include <bit>

namespace weft {

bool SendQueues::post(std::uint32_t id) {
  messages_[id].next = no_message_in_flight;
  if (2 * (count_ + 1) > last_.size()) grow();
  const std::uint64_t queue = key(messages_[id]);
  std::size_t at = home(queue);
  for (; last_[at] != no_message_in_flight; at = after(at)) {
    MessageInFlight& last = messages_[last_[at]];
    if (key(last) != queue) continue;
    last.next = id;
    last_[at] = id;
    return false;
  }
  last_[at] = id;
  ++count_;
  return true;
}

std::uint32_t SendQueues::finish(std::uint32_t id) {
  const std::uint32_t next = messages_[id].next;
  if (next == no_message_in_flight) erase(id);
  return next;
}

// Queues that a search would miss because of the hole move into it.
void SendQueues::erase(std::uint32_t id) {
  std::size_t hole = home(key(messages_[id]));
  while (last_[hole] != id) hole = after(hole);
  for (std::size_t at = after(hole); last_[at] != no_message_in_flight; at = after(at)) {
    const std::size_t wanted = home(key(messages_[last_[at]]));
    const std::size_t mask = last_.size() - 1;
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
    last_[hole] = last_[at];
    hole = at;
  }
  last_[hole] = no_message_in_flight;
  --count_;
}

void SendQueues::grow() {
  constexpr std::size_t least = 16;
  std::vector<std::uint32_t> before(std::max(last_.size() * 2, least), no_message_in_flight);
  before.swap(last_);
  shift_ = 64 - std::countr_zero(last_.size());
  for (const std::uint32_t id : before) {
    if (id == no_message_in_flight) continue;
    std::size_t at = home(key(messages_[id]));
    while (last_[at] != no_message_in_flight) at = after(at);
    last_[at] = id;
  }
}

}  // namespace weft
