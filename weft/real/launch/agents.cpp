// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/agents.hpp"

#include <algorithm>

namespace weft::launch {

HostAgent* Agents::of(std::uint32_t rank) {
  for (HostAgent& agent : list)
    if (std::binary_search(agent.ranks.begin(), agent.ranks.end(), rank)) return &agent;
  return nullptr;
}

void Agents::send_to_all(ToAgent kind, std::string_view body) {
  for (HostAgent& agent : list)
    if (agent.ready && !agent.gone) agent.send(kind, std::string(body));
}

void Agents::send_to_all(ToAgent kind, std::initializer_list<std::uint64_t> numbers) {
  FieldWriter body;
  for (const std::uint64_t number : numbers) body.number(number);
  send_to_all(kind, body.take());
}

}  // namespace weft::launch
