// SPDX-License-Identifier: Apache-2.0
// Where a policy keeps the order of packets, so does every router: messages from one node to
// another arrive as they were sent, each of them whole.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/policy.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

// Cookies of arrived messages, by source and destination.
class Arrivals final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery& d) override {
    seen[{d.from.index, d.to.index}].push_back(d.cookie);
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> seen;
};

// Routers of every kind, where queues grow before nodes and behind the crossbar.
std::map<std::string, NetworkHardware> machines(int vcs) {
  NetworkHardware m = test_machine();
  m.vcs = vcs;
  m.buffer = m.packet_max() * 8;
  std::map<std::string, NetworkHardware> list = {{"even", m}};
  NetworkHardware slow_ends = m;
  slow_ends.eject_rate = Rate::gbyte_per_s(3);
  list["cards slower than links"] = slow_ends;
  NetworkHardware buffered = m;
  buffered.output_buffer = m.buffer;
  buffered.switch_rate = Rate::bit_per_s(2 * m.link.rate.in_bit_per_s());
  list["output buffers"] = buffered;
  buffered.commit = false;
  buffered.arbitration = Arbitration::age;
  list["output buffers, late choice"] = buffered;
  return list;
}

class Order : public testing::TestWithParam<const char*> {};

TEST_P(Order, StaysWhereThePolicyKeepsIt) {
  const Topology topology = *make_topology(GetParam());
  const std::uint32_t nodes = topology.graph.node_count();
  int ordered = 0;
  for (const PolicyEntry& entry : builtin_policies()) {
    const int needed = vcs_needed(entry.name, topology);
    for (int vcs = needed; needed > 0 && vcs < needed + 3; ++vcs) {
      auto policy = make_policy(entry.name, topology, vcs);
      ASSERT_TRUE(policy) << policy.error().text();
      if (!(*policy)->facts().in_order) continue;
      ++ordered;
      for (auto& [name, machine] : machines(vcs)) {
        for (const SendOrder order : {SendOrder::queue, SendOrder::round_robin}) {
          SCOPED_TRACE(std::string(entry.name) + ", " + std::to_string(vcs) + " VCs, " + name);
          NetworkHardware hardware = machine;
          hardware.order = order;
          Arrivals host;
          const auto network = *Network::make(topology, hardware, **policy, host, {});
          std::uint64_t sent = 0;
          // Two nodes for which everybody has messages: of several packets, of one, of no bytes.
          for (int i = 0; i < 6; ++i)
            for (std::uint32_t from = 0; from < nodes; ++from)
              network->send({NodeId(from), NodeId((from + 1) % 2 * (nodes - 1)),
                             hardware.mtu * (i % 3 * 4), sent++, Duration::zero()},
                            Time::zero());
          EXPECT_FALSE(*network->run(Time::never()));
          for (const auto& [pair, cookies] : host.seen) {
            EXPECT_EQ(cookies.size(), 6u) << pair.first << " to " << pair.second;
            EXPECT_TRUE(std::is_sorted(cookies.begin(), cookies.end()))
                << pair.first << " to " << pair.second;
          }
          EXPECT_EQ(host.seen.size(), nodes);
        }
      }
    }
  }
  EXPECT_GT(ordered, 0);
}

INSTANTIATE_TEST_SUITE_P(Networks, Order,
                         testing::Values("mesh:4x3,p=2", "torus:5x3", "torus:3x3,p=4",
                                         "hyperx:4x3,p=3", "fattree:k=4,levels=2",
                                         "dragonfly:a=4,h=2,p=2", "slimfly:q=5,p=2",
                                         "random:n=16,d=4,seed=1,p=3", "hypercube:4",
                                         "complete:5,p=2"));

}  // namespace
}  // namespace weft::detail
