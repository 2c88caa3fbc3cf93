// SPDX-License-Identifier: Apache-2.0
// The flit model beside packets on idle networks, beside sums worked out by hand where packets
// meet, and what must hold for every routing.
#include "weft/simulate/flits/flit_network.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/simulate/flits/test_rig.hpp>

namespace weft {
namespace {

using flits::Model;
using flits::Notes;
using flits::Rig;
using flits::textbook;

struct Case {
  std::string spec, routing;
};
class EveryNetwork : public testing::TestWithParam<Case> {};

NetworkHardware long_stages() {
  NetworkHardware m;
  m.flit = Bytes{8};
  m.mtu = Bytes{256};
  m.route = Duration::ns(3);
  m.vc_alloc = Duration::ns(5);
  m.switch_alloc = Duration::ns(7);
  m.switch_delay = Duration::ns(11);
  m.buffer = Bytes{8192};
  m.release = Release::head;
  m.lookahead = true;
  m.link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(100), .credit_delay = Duration::ns(90)};
  m.node_link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(17), .credit_delay = Duration::ns(13)};
  m.inject_delay = Duration::ns(19);
  m.eject_delay = Duration::ns(23);
  return m;
}

TEST_P(EveryNetwork, AMessageAloneTakesWhatPacketsTake) {
  for (const bool lookahead : {true, false}) {
    for (const std::int64_t bytes : {0, 1, 256, 4000, 16384}) {
      for (const std::uint32_t to : {1u, 5u, 7u}) {
        NetworkHardware machine = long_stages();
        machine.lookahead = lookahead;
        Rig flits(GetParam().spec, GetParam().routing, machine);
        Rig packets(GetParam().spec, GetParam().routing, machine, {}, Model::packets);
        for (Rig* const rig : {&flits, &packets}) {
          rig->send(0, to, bytes);
          rig->run();
          ASSERT_EQ(rig->notes.list.size(), 1u);
        }
        const Delivery &f = flits.notes.list[0], &p = packets.notes.list[0];
        // A last packet that is smaller than a flit arrives as a flit.
        EXPECT_NEAR(f.arrived.since_start().in_ns(), p.arrived.since_start().in_ns(), 1)
            << bytes << " bytes to " << to << (lookahead ? ", looking ahead" : "");
        EXPECT_EQ(f.hops, p.hops);
        EXPECT_EQ(f.entered, p.entered);
        EXPECT_NEAR(flits.notes.left[0].at.since_start().in_ns(),
                    packets.notes.left[0].at.since_start().in_ns(), 1);
        const NodeLinkCount flit_card = flits.network->node_link(NodeId(0)),
                            packet_card = packets.network->node_link(NodeId(0));
        EXPECT_EQ(flit_card.injected.bytes, packet_card.injected.bytes);
        EXPECT_EQ(flit_card.injected.packets, packet_card.injected.packets);
        EXPECT_EQ(flits.network->counts().packets_sent, packets.network->counts().packets_sent);
        EXPECT_EQ(flits.network->counts().packets_delivered,
                  packets.network->counts().packets_delivered);
        EXPECT_EQ(flits.network->counts().hops, packets.network->counts().hops);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EveryNetwork,
                         testing::Values(Case{"mesh:4x3", "dor"}, Case{"torus:5x4", "dor"},
                                         Case{"torus:3x3x3", "dor:up"},
                                         Case{"fattree:k=4,levels=2", "dest-down"},
                                         Case{"dragonfly:a=4,h=2,p=2", "minimal"}));

// 5 H + 6 + L, with H links and L flits.
TEST(Flits, LatencyWithoutLoadIsTheClosedForm) {
  for (const int flits : {1, 8, 32}) {
    Rig rig("mesh:4x4", "dor", textbook(1, flits));
    rig.send(0, 15, 8 * flits, 1);
    rig.run();
    EXPECT_EQ(rig.notes.arrival_ns(1), 5 * 6 + 6 + flits);
  }
}

// A cycle less in each router, if nobody else wants the switch.
TEST(Flits, SpeculationSavesAStage) {
  for (const int flits : {1, 8}) {
    Rig rig("mesh:4x4", "dor", textbook(2, flits), {.speculation = true});
    rig.send(0, 15, 8 * flits, 1);
    rig.run();
    EXPECT_EQ(rig.notes.arrival_ns(1), 5 * 6 + 6 + flits - 7);
  }
}

// Nodes 0 and 1 send to 2, all at one router. The first's flits cross from 3 on, a cycle earlier
// than without speculation; the other's head asks for a VC and the switch at 13, where it may not
// push a flit of the first aside. From 14 on they take turns, and the first's last flits follow.
TEST(Flits, SpeculationLosesToThoseWithAVc) {
  for (const bool speculation : {false, true}) {
    Rig rig("hyperx:2,p=3", "minimal", textbook(2, 32), {.speculation = speculation});
    rig.send(0, 2, 32 * 8, 1);
    rig.send(1, 2, 8 * 8, 2, 10);
    rig.run();
    EXPECT_EQ(rig.notes.arrival_ns(2), 14 + 2 * 7 + 3);
    EXPECT_EQ(rig.notes.arrival_ns(1), (speculation ? 3 : 4) + 31 + 8 + 3);
  }
}

// Node 0 sends to 3 over routers 1 and 2, node 1 to 2. Both heads stand at router 1 from 7 ns on
// and ask for VCs at 8; the first grants of both VCs meet in the same input, so node 1's packet has
// its VC one cycle later. The first packet's flits cross at 9, 11, ..., 23, the other's at 10,
// ..., 24. At router 2 both are in one input end, and so cross in turn again: the heads, which are
// routed and get VCs, at 14 and 15, the last flits at 28 and 29. From there it is 3 cycles for each
// router.
TEST(Flits, VcsShareALinkFlitByFlit) {
  Rig rig("mesh:4", "dor", textbook(2, 8));
  rig.send(0, 3, 64, 1);
  rig.send(1, 2, 64, 2, 5);
  rig.run();
  EXPECT_EQ(rig.notes.arrival_ns(1), 28 + 6);
  EXPECT_EQ(rig.notes.arrival_ns(2), 29 + 3);
}

// The first crosses at 9 to 16 and is not delayed at all: 5 * 3 + 6 + 8. The other follows, with
// its head at 17, which crosses router 2 at 22.
TEST(Flits, AHeldSwitchPassesWholePackets) {
  Rig rig("mesh:4", "dor", textbook(2, 8), {.hold_switch = true});
  rig.send(0, 3, 64, 1);
  rig.send(1, 2, 64, 2, 5);
  rig.run();
  EXPECT_EQ(rig.notes.arrival_ns(1), 29);
  EXPECT_EQ(rig.notes.arrival_ns(2), 22 + 7 + 3);
}

// Through traffic goes first, the node's own flits where it leaves gaps: none.
TEST(Flits, ThroughTrafficMayGoFirst) {
  NetworkHardware machine = textbook(2, 8);
  machine.arbitration = Arbitration::through_first;
  Rig rig("mesh:4", "dor", machine);
  rig.send(0, 3, 64, 1);
  rig.send(1, 2, 64, 2, 5);
  rig.run();
  EXPECT_EQ(rig.notes.arrival_ns(1), 29);
  EXPECT_EQ(rig.notes.arrival_ns(2), 22 + 7 + 3);
}

// The packet that was born later waits for every flit of the other.
TEST(Flits, TheOldestMayGoFirst) {
  NetworkHardware machine = textbook(4, 8);
  machine.arbitration = Arbitration::age;
  Rig rig("mesh:4", "dor", machine);
  rig.send(0, 3, 64, 1, 1);
  rig.send(1, 2, 64, 2, 0);
  rig.send(1, 3, 64, 3, 0);
  rig.run();
  // Node 1's first packet is through router 1 before that of node 0 comes; its second one, a cycle
  // older, is not held back by it.
  EXPECT_EQ(rig.notes.arrival_ns(2), 5 * 1 + 6 + 8);
  Rig alone("mesh:4", "dor", machine);
  alone.send(1, 2, 64, 2, 0);
  alone.send(1, 3, 64, 3, 0);
  alone.run();
  EXPECT_EQ(rig.notes.arrival_ns(3), alone.notes.arrival_ns(3));
  EXPECT_GT(rig.notes.arrival_ns(1), 1 + 29);
}

// A link of 3.2 GB/s takes 2.5 cycles for a flit: no more, and on average no less.
TEST(Flits, SlowLinksTakeTheirTime) {
  NetworkHardware machine = textbook(1, 32, 128);
  machine.release = Release::head;
  machine.lookahead = true;
  Rig fast("mesh:3x2", "dor", machine);
  machine.link_class[fast.topology.graph.link_classes()[0]] = {
      .rate = Rate::bit_per_s(25'600'000'000),
      .delay = Duration::ns(1),
      .credit_delay = Duration::ns(1)};
  Rig slow("mesh:3x2", "dor", machine);
  for (Rig* const rig : {&fast, &slow}) {
    rig->send(0, 1, 80'000, 1);
    rig->run();
  }
  EXPECT_NEAR(fast.notes.arrival_ns(1), 10'000, 40);
  EXPECT_NEAR(slow.notes.arrival_ns(1), 25'000, 40);
  const LinkId link = slow.topology.graph.link(RouterId(0), 0);
  EXPECT_EQ(slow.network->link(link).bytes + slow.network->link(LinkId(link.index + 1)).bytes,
            80'000u);
}

// Goes up a ring for ever round: with one VC it locks up.
class RoundTheRing final : public Policy {
 public:
  explicit RoundTheRing(const Graph& graph) : graph_(graph) {}
  void next(RouterId here, const Flight& flight, const PortView&, Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const std::span<const Port> ports = graph_.ports(here);
    const std::uint32_t next = (here.index + 1) % graph_.router_count();
    for (std::uint16_t port = 0; port < ports.size(); ++port)
      if (ports[port].peer.index == next) return out.add({.port = port, .vcs = 1, .state = 0});
  }
  PolicyFacts facts() const override { return {.hops_max = 8}; }

 private:
  const Graph& graph_;
};

TEST(Flits, CirclesAreFound) {
  const Topology ring = *make_topology("torus:6");
  for (const auto& [control, output_flits, messages] :
       {std::tuple(FlowControl::cut_through, 0, 4u), std::tuple(FlowControl::wormhole, 0, 4u),
        std::tuple(FlowControl::cut_through, 16, 8u), std::tuple(FlowControl::wormhole, 40, 8u)}) {
    NetworkHardware machine = textbook(1, 16);
    machine.release = Release::head;
    machine.output_buffer = machine.flit * output_flits;
    Rig rig("torus:6", std::make_unique<RoundTheRing>(ring.graph), machine,
            {.flow_control = control});
    for (std::uint32_t n = 0; n < 6; ++n)
      for (std::uint64_t i = 0; i < messages; ++i) rig.send(n, (n + 3) % 6, 128, i);
    ASSERT_TRUE(rig.network->run(Time::zero() + Duration::us(10)));
    const std::string found = rig.network->find_deadlock();
    EXPECT_NE(found.find("wait for each other"), std::string::npos) << found;
    EXPECT_NE(found.find(" -> "), std::string::npos) << found;
    EXPECT_EQ(found.find(" to (1) VC 0 -> (1) from (0) VC 0") != std::string::npos,
              output_flits > 0)
        << found;
    EXPECT_LT(rig.notes.list.size(), 6u * messages);
    // Nothing will ever happen.
    const auto more = rig.network->run(Time::never());
    ASSERT_TRUE(more);
    EXPECT_FALSE(*more);
  }
}

// A head that guesses gets a VC without room for it.
TEST(Flits, SpeculationNeedsCredits) {
  for (const VcRequests requests : {VcRequests::best, VcRequests::all}) {
    NetworkHardware machine = textbook(2, 4, 4);
    machine.release = Release::head;
    machine.lookahead = true;
    Rig rig("mesh:4x4", "dor", machine,
            {.speculation = true, .flow_control = FlowControl::wormhole, .requests = requests});
    for (std::uint32_t n = 0; n < 16; ++n)
      for (std::uint64_t i = 0; i < 40; ++i) rig.send(n, (n * 7 + 3) % 16, 64, i);
    rig.run();
    EXPECT_EQ(rig.notes.list.size(), 640u);
  }
}

// A packet that keeps the switch gives it up where it cannot go on.
TEST(Flits, HeldSwitchesLockNobodyOut) {
  NetworkHardware machine = textbook(2, 32);
  machine.release = Release::head;
  Rig rig("torus:8", "dor", machine, {.hold_switch = true, .flow_control = FlowControl::wormhole});
  for (std::uint32_t n = 0; n < 8; ++n)
    for (std::uint32_t to = 0; to < 8; ++to)
      if (to != n) rig.send(n, to, 20000, to);
  rig.run();
  EXPECT_EQ(rig.notes.list.size(), 56u);
}

// With cut-through a packet that has begun to cross goes on; in wormhole it may stop half-way, and
// then keeps others from a VC that has room for them.
TEST(Flits, CutThroughWaitsForRoom) {
  std::map<FlowControl, double> last;
  for (const FlowControl control : {FlowControl::cut_through, FlowControl::wormhole}) {
    NetworkHardware machine = textbook(1, 8, 12);
    machine.release = Release::head;
    Rig rig("mesh:6", "dor", machine, {.flow_control = control});
    for (std::uint64_t i = 0; i < 20; ++i) rig.send(0, 5, 64, i);
    rig.run();
    EXPECT_TRUE(rig.network->find_deadlock().empty());
    last[control] = rig.notes.arrival_ns(19);
  }
  // Room for half a packet more is of use only to wormholes.
  EXPECT_GT(last[FlowControl::cut_through], last[FlowControl::wormhole]);
}

struct Crowd {
  std::string spec, routing;
  int vcs = 0;
};
class EveryRouting : public testing::TestWithParam<Crowd> {};

// And the same again gives the same.
TEST_P(EveryRouting, BringsAllToTheirPlaces) {
  for (const FlitModel& model :
       {FlitModel{}, FlitModel{.iterations = 2, .hold_switch = true, .requests = VcRequests::all},
        FlitModel{.allocator = Allocation::separable_input, .arbiter = Arbiter::matrix},
        FlitModel{.speculation = true}, FlitModel{.speculation = true, .hold_switch = true}}) {
    std::vector<std::int64_t> times[2];
    for (std::vector<std::int64_t>& arrived : times) {
      NetworkHardware machine = textbook(GetParam().vcs, 4, 8);
      machine.header = Bytes{3};
      machine.buffer = Bytes{80};
      machine.order = SendOrder::round_robin;
      Rig rig(GetParam().spec, GetParam().routing, machine, model);
      arrived = overload(rig);
    }
    EXPECT_EQ(times[0], times[1]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Routings, EveryRouting,
    testing::Values(Crowd{"mesh:4x4", "dor", 1}, Crowd{"mesh:4x4", "xy-yx-adaptive", 4},
                    Crowd{"torus:4x4", "dor", 2}, Crowd{"torus:4x4", "min-adaptive", 0},
                    Crowd{"torus:4x4", "valiant", 0}, Crowd{"torus:5x3", "ugal-l", 0},
                    Crowd{"mesh:4x4", "planar-adaptive", 0},
                    Crowd{"fattree:k=4,levels=2", "adaptive-up", 0},
                    Crowd{"dragonfly:a=4,h=2,p=2", "ugal-l", 0},
                    Crowd{"hyperx:3x3,p=2", "minimal", 0}));

struct Wrong {
  std::string what;
  void (*spoil)(NetworkHardware&, FlitModel&);
  std::string routing = "dor";
};

TEST(Flits, WhatIsNotThereIsRefused) {
  const std::vector<Wrong> all = {
      {"router.release",
       [](NetworkHardware&, FlitModel& f) { f.flow_control = FlowControl::wormhole; }},
      {"a packet has 32",
       [](NetworkHardware& m, FlitModel&) {
         m.mtu = Bytes{250};
         m.buffer = Bytes{251};
       }},
      {"router.output_buffer of 255 B holds 31 flits",
       [](NetworkHardware& m, FlitModel&) {
         m.mtu = Bytes{250};
         m.output_buffer = Bytes{255};
       }},
      {"router.switch_rate of 1 kb/s is too slow",
       [](NetworkHardware& m, FlitModel&) { m.switch_rate = Rate::bit_per_s(1000); }},
      {"use sideband", [](NetworkHardware& m, FlitModel&) { m.news.mode = NewsMode::instant; },
       "rca-1d"}};
  const Topology topology = *make_topology("mesh:4x4");
  Notes notes;
  for (const Wrong& wrong : all) {
    NetworkHardware machine = textbook(4, 32);
    FlitModel model;
    wrong.spoil(machine, model);
    const auto policy = make_policy(wrong.routing, topology, machine.vcs);
    ASSERT_TRUE(policy) << policy.error().text();
    const auto made = make_flit_network(topology, machine, **policy, notes, {}, model);
    ASSERT_FALSE(made) << wrong.what;
    EXPECT_NE(made.error().text().find(wrong.what), std::string::npos) << made.error().text();
  }
  const Topology wide = *make_topology("fattree:radix=2100,levels=1");
  const auto policy = *make_policy("dest-down", wide, 32);
  const auto made = make_flit_network(wide, textbook(32, 1), *policy, notes, {});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("make router.vcs smaller"), std::string::npos);
}

}  // namespace
}  // namespace weft
