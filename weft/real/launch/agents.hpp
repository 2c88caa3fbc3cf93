// SPDX-License-Identifier: Apache-2.0
// The agents of a job, one for each host, as `weft run` speaks to them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/real/launch/agent_link.hpp>
#include <weft/real/launch/agent_protocol.hpp>
#include <weft/real/launch/clock.hpp>
#include <weft/real/launch/launcher.hpp>

namespace weft::launch {

struct HostAgent {
  const HostRanks* host = nullptr;
  std::unique_ptr<AgentLink> link;
  std::vector<std::uint32_t> ranks;  // On this host, also those that came later.
  bool ready = false, gone = false;
  std::size_t owed = 0;  // Bytes of output not yet confirmed.
  // The job began without ranks on this host: an agent is started with the first. No link, and
  // gone, until then.
  bool spare = false;
  Deadline ready_by = Deadline::never();
  std::vector<std::pair<ToAgent, std::string>> held;  // Until it is ready.

  void send_held() {
    for (auto& [kind, body] : std::exchange(held, {})) send(kind, std::move(body));
  }
  bool usable() const { return !gone || (spare && link == nullptr); }
  void send(ToAgent kind, std::string body) {
    if (ready) {
      link->stream().send(static_cast<std::uint8_t>(kind), body);
    } else {
      held.emplace_back(kind, std::move(body));
    }
  }
};

struct Agents {
  std::vector<HostAgent> list;

  auto begin() { return list.begin(); }
  auto end() { return list.end(); }
  HostAgent* of(std::uint32_t rank);
  void send_to_all(ToAgent kind, std::string_view body);
  void send_to_all(ToAgent kind, std::initializer_list<std::uint64_t> numbers);
};

}  // namespace weft::launch
