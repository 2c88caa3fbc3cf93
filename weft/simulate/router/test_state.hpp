// SPDX-License-Identifier: Apache-2.0
// A laid-out state without an engine, for tests of single components.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/simulate/router/layout.hpp>
#include <weft/simulate/router/news.hpp>

namespace weft::detail {

class SilentHost final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery& d) override { arrived.push_back(d); }
  std::vector<Delivery> arrived;
};

// Every stage has a delay of its own, so that none can stand in for another.
inline NetworkHardware test_machine() {
  NetworkHardware m;
  m.vcs = 2;
  m.mtu = Bytes{256};
  m.buffer = m.mtu * 4;
  m.route = Duration::ns(3);
  m.vc_alloc = Duration::ns(5);
  m.switch_alloc = Duration::ns(7);
  m.switch_delay = Duration::ns(11);
  m.link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(100), .credit_delay = Duration::ns(90)};
  m.node_link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(17), .credit_delay = Duration::ns(13)};
  return m;
}

struct TestState {
  // Routers in their order, in equal parts, each with a worker; or, with peers, with a process.
  TestState(const std::string& spec, const std::string& routing, const NetworkHardware& machine,
            int parts = 1, const ProcessGroup* peers = nullptr)
      : topology(*make_topology(spec)), policy(*make_policy(routing, topology, machine.vcs)) {
    Parts cut;
    const std::uint32_t routers = topology.graph.router_count();
    for (std::uint32_t r = 0; r < routers; ++r) cut.order.push_back(r);
    cut.first = Partition::even(routers, parts).first;
    state = lay_out(Setup(topology, machine, *policy, host, 1),
                    place_routers(topology.graph, cut, peers));
    state->agenda = Agenda(state->placement.partition, Duration::ns(10));
    if (policy->lines() != nullptr) {
      news = std::make_unique<News>(*state);
      state->news = news.get();
    }
  }

  Topology topology;
  std::unique_ptr<Policy> policy;
  SilentHost host;
  std::unique_ptr<State> state;
  std::unique_ptr<News> news;
};

inline Slot test_packet(std::int64_t head_at, std::int64_t size) {
  return {.head_at = head_at,
          .tail_after = 0,
          .node = 0,
          .route = 0,
          .message = no_message,
          .packed = Slot::pack(size, 0)};
}

}  // namespace weft::detail
