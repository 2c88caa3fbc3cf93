// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flows/messages_in_flight.hpp"

namespace weft {

bool SendQueues::post(std::uint32_t id) {
  messages_[id].next = no_message_in_flight;
  const auto [queue, is_new] = last_.try_emplace(key(messages_[id]), id);
  if (is_new) return true;
  messages_[queue->second].next = id;
  queue->second = id;
  return false;
}

std::uint32_t SendQueues::finish(std::uint32_t id) {
  const std::uint32_t next = messages_[id].next;
  if (next == no_message_in_flight) last_.erase(key(messages_[id]));
  return next;
}

}  // namespace weft
