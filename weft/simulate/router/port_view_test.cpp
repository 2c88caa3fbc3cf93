// SPDX-License-Identifier: Apache-2.0
// A router answers a policy that asks for many queues at once as one that asks port by port.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/policy.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

class Quiet final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery&) override { ++messages; }

  int messages = 0;
};

// Routes as another policy, and asks for all queues in both ways whenever it is asked.
class Comparing final : public Policy {
 public:
  Comparing(const Policy& inner, const Graph& graph) : inner_(inner), graph_(graph) {}

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    std::vector<std::int64_t> queues(graph_.ports(here).size());
    view.queues(0, queues);
    for (std::size_t i = 0; i < queues.size(); ++i) {
      const int port = static_cast<int>(i);
      EXPECT_EQ(queues[i], view.up(port) ? view.queued(port).count : PortView::down);
      longest = std::max(longest, view.up(port) ? queues[i] : 0);
    }
    inner_.next(here, flight, view, out);
  }
  PolicyFacts facts() const override { return inner_.facts(); }

  mutable std::int64_t longest = 0;

 private:
  const Policy& inner_;
  const Graph& graph_;
};

struct Scene {
  std::string network;
  bool output_buffers;
};

class Queues : public testing::TestWithParam<Scene> {};

TEST_P(Queues, AreTheSameAtOnceAndPortByPort) {
  const Topology topology = *make_topology(GetParam().network);
  NetworkHardware machine = test_machine();
  machine.vcs = 2;
  machine.buffer = machine.packet_max() * 4;
  if (GetParam().output_buffers) machine.output_buffer = machine.buffer;
  const auto inner = make_policy("adaptive-up", topology, machine.vcs);
  ASSERT_TRUE(inner) << inner.error().text();
  const Comparing policy(**inner, topology.graph);
  Quiet host;
  const auto network = *Network::make(topology, machine, policy, host, {});
  const std::uint32_t nodes = topology.graph.node_count();
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t step = 1; step < nodes; step += 3)
      network->send(
          {NodeId(from), NodeId((from + step) % nodes), machine.mtu * 3, 0, Duration::zero()},
          Time::zero());
  }
  EXPECT_FALSE(*network->run(Time::never()));
  EXPECT_GT(host.messages, 0);
  EXPECT_GE(policy.longest, machine.packet_max().count);
}

INSTANTIATE_TEST_SUITE_P(All, Queues,
                         testing::Values(Scene{"fattree:k=4,levels=3", false},
                                         Scene{"fattree:k=4,levels=3", true},
                                         Scene{"fattree:k=8,levels=2", false}));

}  // namespace
}  // namespace weft::detail
