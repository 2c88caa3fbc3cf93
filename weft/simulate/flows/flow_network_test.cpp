// SPDX-License-Identifier: Apache-2.0
// The flow model beside packets on idle networks, and beside sums worked out by hand on busy ones.
#include "weft/simulate/flows/flow_network.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/network/topo/kinds.hpp>

namespace weft {
namespace {

// Sends nothing by itself, notes what arrives.
class Notes final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery& d) override { list.push_back(d); }
  void departed(int, const Departure& d) override { left.push_back(d); }
  Time arrival(std::uint64_t cookie) const {
    for (const Delivery& d : list)
      if (d.cookie == cookie) return d.arrived;
    return Time::never();
  }
  std::vector<Delivery> list;
  std::vector<Departure> left;
};

NetworkHardware hardware() {
  NetworkHardware m;
  m.flit = Bytes{8};
  m.mtu = Bytes{256};
  m.route = Duration::ns(3);
  m.vc_alloc = Duration::ns(5);
  m.switch_alloc = Duration::ns(7);
  m.switch_delay = Duration::ns(11);
  m.buffer = Bytes{8192};
  m.lookahead = true;
  m.release = Release::head;
  m.link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(100), .credit_delay = Duration::ns(90)};
  m.node_link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(17), .credit_delay = Duration::ns(13)};
  m.inject_delay = Duration::ns(19);
  m.eject_delay = Duration::ns(23);
  return m;
}

struct Rig {
  Rig(const std::string& spec, const std::string& routing, NetworkHardware machine,
      bool flow = true, const FlowModel& model = {})
      : topology(*make_topology(spec)) {
    machine.vcs = std::max(machine.vcs, vcs_needed(routing, topology));
    policy = *make_policy(routing, topology, machine.vcs);
    auto made = flow ? make_flow_network(topology, machine, *policy, notes, {}, model)
                     : Network::make(topology, machine, *policy, notes, {});
    EXPECT_TRUE(made) << made.error().text();
    network = std::move(*made);
  }
  void send(std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::uint64_t cookie = 0) {
    network->send(NodeId(from), NodeId(to), Bytes{bytes}, Time::zero(), cookie);
  }
  void run() { ASSERT_TRUE(network->run(Time::never())); }

  Topology topology;
  std::unique_ptr<Policy> policy;
  Notes notes;
  std::unique_ptr<Network> network;
};

struct Case {
  std::string spec, routing;
};
class EveryNetwork : public testing::TestWithParam<Case> {};

TEST_P(EveryNetwork, OneMessageOnAnIdleNetworkTakesWhatPacketsTake) {
  for (const std::int64_t bytes : {1, 256, 4000, 16384, 16385, 1'000'000}) {
    for (const std::uint32_t to : {1u, 5u, 7u}) {
      Rig flow(GetParam().spec, GetParam().routing, hardware());
      Rig packets(GetParam().spec, GetParam().routing, hardware(), false);
      for (Rig* const rig : {&flow, &packets}) {
        rig->send(0, to, bytes);
        rig->run();
        ASSERT_EQ(rig->notes.list.size(), 1u);
      }
      const Delivery &f = flow.notes.list[0], &p = packets.notes.list[0];
      // A last packet that is smaller than a flit arrives as a flit.
      EXPECT_NEAR(static_cast<double>(f.arrived.in_ps()), static_cast<double>(p.arrived.in_ps()),
                  1000)
          << bytes << " bytes to " << to;
      EXPECT_EQ(f.hops, p.hops);
      EXPECT_NEAR(static_cast<double>(flow.notes.left[0].at.in_ps()),
                  static_cast<double>(packets.notes.left[0].at.in_ps()), 2);
      const NodeLinkCount flow_card = flow.network->node_link(NodeId(0)),
                          packet_card = packets.network->node_link(NodeId(0));
      EXPECT_EQ(flow_card.injected.bytes, packet_card.injected.bytes);
      EXPECT_EQ(flow_card.injected.packets, packet_card.injected.packets);
      EXPECT_EQ(flow.network->counts().packets_sent, packets.network->counts().packets_sent);
      EXPECT_EQ(flow.network->counts().packets_delivered,
                packets.network->counts().packets_delivered);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EveryNetwork,
                         testing::Values(Case{"mesh:4x3", "dor"}, Case{"torus:5x4", "dor"},
                                         Case{"torus:3x3x3", "dor:up"},
                                         Case{"fattree:k=3,levels=2", "dest-down"},
                                         Case{"dragonfly:a=4,h=2,p=2", "minimal"},
                                         Case{"hyperx:3x4", "minimal"},
                                         Case{"complete:8", "minimal"}),
                         [](const auto& tested) { return "case" + std::to_string(tested.index); });

// By every routing on a small network of every kind that it fits, small and large messages arrive,
// once each, and the same again.
TEST(FlowNetwork, DeliversUnderEveryRoutingOnEveryKindOfNetwork) {
  int combinations = 0;
  for (const TopologyKind& kind : topology_kinds()) {
    if (kind.example.empty()) continue;
    const std::string spec(kind.example);
    const Topology topology = *make_topology(spec);
    const std::uint32_t nodes = topology.graph.node_count();
    for (const PolicyEntry& entry : builtin_policies()) {
      const std::string routing(entry.name);
      if (vcs_needed(routing, topology) == 0) continue;
      ++combinations;
      std::vector<Delivery> lists[2];
      for (auto& list : lists) {
        Rig rig(spec, routing, hardware());
        Rng rng(7);
        const std::uint32_t senders = std::min(nodes, 40u);
        for (std::uint32_t i = 0; i < 3 * senders; ++i) {
          const auto to = static_cast<std::uint32_t>(rng.below(nodes));
          if (to % nodes == i % nodes) continue;
          rig.send(i % nodes, to, static_cast<std::int64_t>(rng.below(60'000)), i);
        }
        rig.run();
        list = rig.notes.list;
        EXPECT_EQ(rig.network->counts().packets_sent, rig.network->counts().packets_delivered);
        EXPECT_EQ(rig.notes.left.size(), list.size());
      }
      ASSERT_EQ(lists[0].size(), lists[1].size()) << spec << " " << routing;
      for (std::size_t i = 0; i < lists[0].size(); ++i) {
        ASSERT_EQ(lists[0][i].cookie, lists[1][i].cookie);
        ASSERT_EQ(lists[0][i].arrived, lists[1][i].arrived);
      }
    }
  }
  EXPECT_GT(combinations, 60);
}

TEST(FlowNetwork, ManyToOneShareItsLink) {
  Rig rig("complete:9", "minimal", hardware());
  for (std::uint32_t i = 1; i < 9; ++i) rig.send(i, 0, 1'000'000, i);
  rig.run();
  // Eight million bytes and the way, through 8 GB/s.
  for (const Delivery& d : rig.notes.list) {
    EXPECT_NEAR(static_cast<double>(d.arrived.in_ps()) / 1e6, 1000, 1);
  }
}

TEST(FlowNetwork, ACardWithOneQueueSendsOneMessageAfterTheOther) {
  NetworkHardware machine = hardware();
  for (const SendOrder order : {SendOrder::queue, SendOrder::round_robin}) {
    machine.order = order;
    Rig rig("complete:9", "minimal", machine);
    for (std::uint32_t i = 1; i < 9; ++i) rig.send(0, i, 1'000'000, i);
    rig.run();
    const double first = static_cast<double>(rig.notes.arrival(1).in_ps()) / 1e6;
    EXPECT_NEAR(first, order == SendOrder::queue ? 125 : 1000, 1);
    EXPECT_NEAR(static_cast<double>(rig.notes.arrival(8).in_ps()) / 1e6, 1000, 1);
  }
}

TEST(FlowNetwork, MessagesOfOnePairKeepTheirOrder) {
  Rig rig("torus:4x4", "dor", hardware());
  const std::vector<std::int64_t> sizes = {100'000, 8, 50'000, 0, 16'384, 1};
  for (std::size_t i = 0; i < sizes.size(); ++i) rig.send(0, 5, sizes[i], i);
  rig.run();
  ASSERT_EQ(rig.notes.list.size(), sizes.size());
  for (std::size_t i = 1; i < sizes.size(); ++i)
    EXPECT_LT(rig.notes.arrival(i - 1), rig.notes.arrival(i)) << i;
}

TEST(FlowNetwork, SmallMessagesQueueForALink) {
  NetworkHardware machine = hardware();
  Rig rig("mesh:3,p=4", "dor", machine);
  // Four nodes of the first router to four of the last, over one link.
  for (std::uint32_t i = 0; i < 4; ++i) rig.send(i, 8 + i, 8000, i);
  rig.run();
  std::vector<std::int64_t> times;
  for (const Delivery& d : rig.notes.list) times.push_back(d.arrived.in_ps());
  std::sort(times.begin(), times.end());
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], 1'000'000);
}

TEST(FlowNetwork, CountsBytesWhileTheyPass) {
  Rig rig("mesh:2", "dor", hardware());
  rig.send(0, 1, 800'000);
  ASSERT_TRUE(rig.network->run(Time::zero() + Duration::us(50)));
  const LinkId link = rig.topology.graph.link(RouterId(0), Lattice::up_port(0));
  const Time half = Time::zero() + Duration::us(50);
  EXPECT_NEAR(static_cast<double>(rig.network->link(link, half).bytes), 400'000, 2);
  EXPECT_EQ(rig.network->link(link).bytes, 800'000u);
  rig.run();
  EXPECT_EQ(rig.network->link(link).bytes, 800'000u);
  EXPECT_EQ(rig.network->link(link).packets, 3125u);
}

TEST(FlowNetwork, StopsWhereTheRoutingHasNoWay) {
  const Topology whole = *make_topology("mesh:3");
  Topology broken = whole;
  const LinkId cut = whole.graph.link(RouterId(1), Lattice::up_port(0));
  broken.graph = Graph::with_down(whole.graph, std::vector<LinkId>{cut});
  const auto policy = *make_policy("dor", broken, 1);
  Notes notes;
  const auto network = *make_flow_network(broken, hardware(), *policy, notes, {});
  network->send(NodeId(0), NodeId(2), Bytes{100}, Time::zero());
  const auto ran = network->run(Time::never());
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message().find("no way from"), std::string::npos) << ran.error().message();
}

// On mesh:4x2 two messages share a link of their row. On mesh:3x3 one of them comes along the row
// and turns into the column of the other.
TEST(FlowNetwork, WhatTurnsIsUncertainWithoutOutputBuffers) {
  constexpr std::int64_t bytes = 1'000'000;
  Rig straight("mesh:4x2", "dor", hardware());
  straight.send(0, 3, bytes);
  straight.send(1, 2, bytes);
  straight.run();
  EXPECT_NEAR(static_cast<double>(straight.network->counts().flow_bytes), 2 * bytes, 4);
  EXPECT_EQ(straight.network->counts().uncertain_bytes, 0u);

  for (const bool buffered : {false, true}) {
    NetworkHardware machine = hardware();
    if (buffered) {
      machine.output_buffer = Bytes{8192};
      machine.switch_rate = Rate::gbyte_per_s(16);
    }
    Rig turning("mesh:3x3", "dor", machine);
    turning.send(0, 4, bytes);
    turning.send(1, 7, bytes);
    turning.run();
    const NetworkCounts counts = turning.network->counts();
    if (buffered)
      EXPECT_EQ(counts.uncertain_bytes, 0u);
    else
      EXPECT_GT(counts.uncertain_bytes, counts.flow_bytes / 2);
  }
}

// Four nodes of a leaf switch send to those of another one, which has four spines between.
TEST(FlowNetwork, AdaptiveMessagesTakeDifferentWays) {
  constexpr std::int64_t bytes = 1'000'000;
  Rig alone("fattree:radix=8,levels=2", "adaptive-up", hardware());
  alone.send(0, 4, bytes);
  alone.run();
  Rig all("fattree:radix=8,levels=2", "adaptive-up", hardware());
  for (std::uint32_t i = 0; i < 4; ++i) all.send(i, 4 + i, bytes, i);
  all.run();
  const auto expected = static_cast<double>(alone.notes.list[0].arrived.in_ps());
  for (const Delivery& d : all.notes.list)
    EXPECT_NEAR(static_cast<double>(d.arrived.in_ps()), expected, 1000);
}

// The nodes of a group have one cable to the next, and many detours.
TEST(FlowNetwork, UgalGoesRoundAFullCable) {
  const auto last = [](const std::string& routing) {
    Rig rig("dragonfly:a=4,h=2,p=2", routing, hardware());
    for (std::uint32_t i = 0; i < 8; ++i) rig.send(i, 8 + i, 1'000'000, i);
    rig.run();
    Time at = Time::zero();
    for (const Delivery& d : rig.notes.list) at = std::max(at, d.arrived);
    return at.in_ps();
  };
  EXPECT_LT(last("ugal-l"), last("minimal") * 2 / 3);
}

// Two messages fill a link. Small ones beside them wait for a packet of each, but not for the wait
// of those before them.
TEST(FlowNetwork, SmallMessagesDoNotQueueForTheTurnsOfOthers) {
  constexpr int count = 50;
  Rig rig("mesh:4x2", "dor", hardware());
  rig.send(0, 3, 1'000'000, count);
  rig.send(1, 3, 1'000'000, count);
  ASSERT_TRUE(rig.network->run(Time::zero() + Duration::us(1)));
  for (std::uint64_t i = 0; i < count; ++i)
    rig.network->send(NodeId(2), NodeId(3), Bytes{64}, Time::zero() + Duration::us(1), i);
  rig.run();
  const auto at_ns = [&](std::uint64_t i) {
    return static_cast<double>(rig.notes.arrival(i).in_ps()) / 1000;
  };
  EXPECT_NEAR(at_ns(count - 1) - at_ns(0), (count - 1) * 64 / 8.0, 100);
}

}  // namespace
}  // namespace weft
