// SPDX-License-Identifier: Apache-2.0
// Closed forms: what an idle network does to a single packet, exactly; what no network can exceed;
// what must be noticed.
#include "weft/simulate/router/network.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
namespace weft {
namespace {

// Sends nothing by itself, notes what arrives.
class Notes final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery& d) override { list.push_back(d); }
  void departed(int, const Departure& d) override { left.push_back(d); }
  std::vector<Delivery> list;
  std::vector<Departure> left;
};

struct Rig {
  Topology topology;
  std::unique_ptr<Policy> policy;
  Notes notes;
  std::unique_ptr<Network> network;
};

std::unique_ptr<Rig> make_rig(const std::string& spec, const std::string& routing,
                              NetworkHardware machine) {
  auto rig = std::make_unique<Rig>(Rig{*make_topology(spec), nullptr, {}, nullptr});
  for (const PolicyEntry& entry : builtin_policies()) {
    if (entry.name == routing) machine.vcs = std::max(machine.vcs, entry.vcs_needed(rig->topology));
  }
  auto policy = make_policy(routing, rig->topology, machine.vcs);
  EXPECT_TRUE(policy) << policy.error().text();
  rig->policy = std::move(*policy);
  auto network = Network::make(rig->topology, machine, *rig->policy, rig->notes, {});
  EXPECT_TRUE(network) << network.error().text();
  rig->network = std::move(*network);
  return rig;
}

// Every stage with a delay of its own, so that none can stand in for another.
NetworkHardware distinct_delays() {
  NetworkHardware m;
  m.flit = Bytes{8};
  m.mtu = Bytes{256};
  m.route = Duration::ns(3);
  m.vc_alloc = Duration::ns(5);
  m.switch_alloc = Duration::ns(7);
  m.switch_delay = Duration::ns(11);
  m.link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(100), .credit_delay = Duration::ns(90)};
  m.node_link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(17), .credit_delay = Duration::ns(13)};
  m.inject_delay = Duration::ns(19);
  m.eject_delay = Duration::ns(23);
  return m;
}

struct Case {
  std::string spec, routing;
};

class EveryTopology : public testing::TestWithParam<Case> {};

TEST_P(EveryTopology, ZeroLoadLatencyIsTheSumOfItsParts) {
  const NetworkHardware m = distinct_delays();
  const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
  auto rig = make_rig(GetParam().spec, GetParam().routing, m);
  const Graph& graph = rig->topology.graph;
  std::size_t expected = 0;
  for (std::uint32_t a = 0; a < graph.node_count(); a += 3) {
    for (std::uint32_t b = 0; b < graph.node_count(); ++b, ++expected) {
      const Bytes size{1 + (a * 37 + b * 11) % 256};
      const Time born = Time::ps(static_cast<std::int64_t>(expected) * 100'000'000);
      ASSERT_TRUE(rig->network->run(born));
      rig->network->send(NodeId(a), NodeId(b), size, born);
    }
  }
  ASSERT_TRUE(rig->network->run(Time::never()));
  ASSERT_EQ(rig->notes.list.size(), expected);
  for (const Delivery& d : rig->notes.list) {
    const int links = distance(rig->topology, graph.router_of(d.from), graph.router_of(d.to));
    if (GetParam().spec.rfind("dragonfly", 0) == 0) {
      // local-global-local: two global cables in a row would sometimes be shorter, but are never
      // taken.
      ASSERT_GE(d.hops, links);
      ASSERT_LE(d.hops, 3);
    } else {
      ASSERT_EQ(d.hops, links);
    }
    // The head flit crosses every part, the rest follows at the rate of the wire.
    const Duration tail =
        serialise(Bytes{std::max<std::int64_t>(d.size.count - m.flit.count, 0)}, m.link.rate);
    const Duration latency = m.inject_delay + m.node_link.delay + (router + m.link.delay) * d.hops +
                             router + m.node_link.delay + tail + m.eject_delay;
    ASSERT_EQ((d.arrived - d.born).in_ps(), latency.in_ps())
        << d.from.index << " to " << d.to.index;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, EveryTopology,
    testing::Values(
        Case{"mesh:4x3", "dor"}, Case{"torus:5x4", "dor"}, Case{"torus:3x3x3,p=2", "dor"},
        Case{"tofu:2x2x2", "dor"}, Case{"hypercube:4", "dor"}, Case{"ring:9", "dor"},
        Case{"fattree:k=3,levels=2", "dest-down"}, Case{"fattree:k=2,levels=3", "source-up"},
        Case{"fattree:radix=8,levels=2", "adaptive-up"}, Case{"xgft:m=4x3,w=1x2", "dest-down"},
        Case{"dragonfly:a=4,h=2,p=2", "minimal"}, Case{"hyperx:3x4", "minimal"},
        Case{"complete:7", "minimal"}, Case{"mesh:4x4", "min-adaptive"},
        Case{"torus:4x4", "min-adaptive"}, Case{"mesh:4x4", "xy-yx"}, Case{"complete:6", "up-down"},
        Case{"slimfly:q=3,p=2", "shortest"}, Case{"random:n=12,d=3", "min-adaptive"}),
    [](const auto& tested) { return "case" + std::to_string(tested.index); });

TEST(Buffers, HoldAPacketFromItsFirstFlitUntilItGoesOn) {
  const NetworkHardware m = distinct_delays();
  auto rig = make_rig("mesh:2", "dor", m);
  rig->network->send(NodeId(0), NodeId(1), Bytes{256}, Time::zero());
  const Time first = Time::zero() + m.inject_delay + m.node_link.delay;
  const Duration decide = m.route + m.vc_alloc;  // It gets the output then.
  const Time second = first + decide + m.switch_alloc + m.switch_delay + m.link.delay;
  const auto level_at = [&](RouterId router, int port, Time at) {
    EXPECT_TRUE(rig->network->run(at));
    return rig->network->buffer(router, port, 0, at);
  };
  const int from_node = static_cast<int>(rig->topology.graph.ports(RouterId(0)).size());
  const int from_router = Lattice::down_port(0);
  const BufferLevel none, one = {1, Bytes{256}};
  const Duration instant = Duration::ps(1);
  EXPECT_EQ(level_at(RouterId(0), from_node, first), none);
  EXPECT_EQ(level_at(RouterId(0), from_node, first + instant), one);
  EXPECT_EQ(level_at(RouterId(0), from_node, first + decide), one);
  EXPECT_EQ(level_at(RouterId(0), from_node, first + decide + instant), none);
  EXPECT_EQ(level_at(RouterId(1), from_router, second), none);
  EXPECT_EQ(level_at(RouterId(1), from_router, second + instant), one);
  EXPECT_EQ(level_at(RouterId(1), from_router, second + decide + instant), none);
}

// Three rates on the way; the tail is held back by the slowest so far, never by one that comes
// later.
TEST(UnequalRates, HeadAndTailAreThoseOfAFlitModel) {
  struct Rates {
    std::int64_t inject, link, eject;
  };
  for (const Rates rates : {Rates{10, 100, 40}, Rates{100, 10, 40}, Rates{100, 40, 10},
                            Rates{40, 10, 100}, Rates{64, 64, 64}}) {
    NetworkHardware m = distinct_delays();
    m.mtu = Bytes{4096};
    m.inject_rate = Rate::gbit_per_s(rates.inject);
    m.link.rate = Rate::gbit_per_s(rates.link);
    m.eject_rate = Rate::gbit_per_s(rates.eject);
    m.node_link.rate = Rate::gbit_per_s(100);
    auto rig = make_rig("mesh:4", "dor", m);
    rig->network->send(NodeId(0), NodeId(3), Bytes{4096}, Time::zero());
    ASSERT_TRUE(rig->network->run(Time::never()));
    // Flit by flit: a stage passes flit j when it is there, and one flit time after flit j - 1.
    const int flits = 4096 / 8;
    std::vector<std::int64_t> at(flits, 0);
    const auto stage = [&](std::int64_t gbit, Duration before, Duration after) {
      const std::int64_t flit = serialise(Bytes{8}, Rate::gbit_per_s(gbit)).in_ps();
      std::int64_t last = INT64_MIN / 2;
      for (int j = 0; j < flits; ++j) {
        std::int64_t& t = at[static_cast<std::size_t>(j)];
        t = std::max(t + (j == 0 ? before.in_ps() : 0), last + flit);
        last = t;
        t += after.in_ps();
      }
    };
    const Duration decide = m.route + m.vc_alloc, leave = m.switch_alloc + m.switch_delay;
    stage(rates.inject, Duration::zero(), m.inject_delay + m.node_link.delay);
    for (int hop = 0; hop < 3; ++hop) stage(rates.link, decide, leave + m.link.delay);
    stage(rates.eject, decide, leave + m.node_link.delay);
    ASSERT_EQ(rig->notes.list.size(), 1u);
    EXPECT_EQ((rig->notes.list[0].arrived - Time::zero()).in_ps(),
              at.back() + m.eject_delay.in_ps())
        << rates.inject << " " << rates.link << " " << rates.eject;
  }
}

// A wire that is kept busy carries its rate, no more and no less: n packets back to back.
TEST(Serialisation, PacketsOfAMessageFollowWithoutAGap) {
  NetworkHardware m = distinct_delays();
  m.buffer = Bytes{64 * 256};
  m.lookahead = true;
  auto rig = make_rig("mesh:2", "dor", m);
  const std::int64_t packets = 100;
  rig->network->send(NodeId(0), NodeId(1), Bytes{256 * packets}, Time::zero());
  ASSERT_TRUE(rig->network->run(Time::never()));
  const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
  const Duration head = m.inject_delay + m.node_link.delay * 2 + router * 2 + m.link.delay;
  const Duration tail = serialise(Bytes{256 * packets - m.flit.count}, m.link.rate);
  ASSERT_EQ(rig->notes.list.size(), 1u);
  EXPECT_EQ((rig->notes.list[0].arrived - Time::zero()).in_ps(),
            (head + tail + m.eject_delay).in_ps());
}

// The card is done when its last flit is on the wire; a gap follows every packet but does not count
// after the last.
TEST(Serialisation, GapsKeepPacketsApart) {
  for (const std::int64_t gap_ns : {0, 50}) {
    NetworkHardware m = distinct_delays();
    m.buffer = Bytes{64 * 256};
    m.lookahead = true;
    auto rig = make_rig("mesh:2", "dor", m);
    const std::int64_t packets = 10;
    const Duration gap = Duration::ns(gap_ns);
    rig->network->send({NodeId(0), NodeId(1), Bytes{256 * packets}, 7, gap}, Time::zero());
    ASSERT_TRUE(rig->network->run(Time::never()));
    const Duration busy = serialise(Bytes{256}, m.node_link.rate) * packets + gap * (packets - 1);
    ASSERT_EQ(rig->notes.left.size(), 1u);
    EXPECT_EQ(rig->notes.left[0].at, Time::zero() + busy);
    EXPECT_EQ(rig->notes.left[0].cookie, 7u);
    const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
    const Duration head = m.inject_delay + m.node_link.delay * 2 + router * 2 + m.link.delay;
    ASSERT_EQ(rig->notes.list.size(), 1u);
    EXPECT_EQ(rig->notes.list[0].arrived,
              Time::zero() + head + busy - serialise(m.flit, m.link.rate) + m.eject_delay);
  }
}

TEST(Headers, CountOnTheWireButNotInTheMessage) {
  NetworkHardware m = distinct_delays();
  m.header = Bytes{32};
  auto rig = make_rig("mesh:2", "dor", m);
  rig->network->send(NodeId(0), NodeId(1), Bytes{600}, Time::zero());
  ASSERT_TRUE(rig->network->run(Time::never()));
  ASSERT_EQ(rig->notes.list.size(), 1u);
  EXPECT_EQ(rig->notes.list[0].size, Bytes{600});
  const LinkCount count =
      rig->network->link(rig->topology.graph.link(RouterId(0), Lattice::up_port(0)));
  EXPECT_EQ(count.packets, 3u);
  EXPECT_EQ(count.bytes, 600u + 3 * 32);
}

TEST(Messages, OfNoBytesArriveToo) {
  auto rig = make_rig("mesh:2", "dor", distinct_delays());
  rig->network->send(NodeId(0), NodeId(1), Bytes{0}, Time::zero());
  ASSERT_TRUE(rig->network->run(Time::never()));
  EXPECT_EQ(rig->notes.list.size(), 1u);
}

// Everyone across the middle: no more than the bisection's rate gets through, whatever the routing.
TEST(Bisection, BoundsThroughput) {
  for (const std::string routing : {"dor", "min-adaptive", "valiant", "xy-yx"}) {
    NetworkHardware m = distinct_delays();
    m.vcs = 4;
    m.buffer = Bytes{8 * 256};
    auto rig = make_rig("mesh:4x4", routing, m);
    const std::int64_t each = 200 * 256;
    for (std::uint32_t n = 0; n < 16; ++n)
      rig->network->send(NodeId(n), NodeId(15 - n), Bytes{each}, Time::zero());
    ASSERT_TRUE(rig->network->run(Time::never()));
    ASSERT_EQ(rig->notes.list.size(), 16u);
    Time end = Time::zero();
    for (const Delivery& d : rig->notes.list) end = std::max(end, d.arrived);
    // All 16 cross the middle; four cables each way carry them, eight one way and eight the other.
    const Duration least = serialise(Bytes{each * 8 / 4}, m.link.rate);
    EXPECT_GT((end - Time::zero()).in_ps(), least.in_ps()) << routing;
    const double share = least.in_seconds() / (end - Time::zero()).in_seconds();
    EXPECT_GT(share, 0.3) << routing;  // And it is not idle either.
  }
}

// A ring without datelines: the textbook deadlock.
class AlwaysUp final : public Policy {
 public:
  void next(RouterId here, const Flight& flight, const PortView&, Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    out.add({.port = 0, .vcs = 1, .state = flight.state});
  }
  PolicyFacts facts() const override { return {.hops_max = 3}; }
};

TEST(Deadlock, IsFoundAndItsCircleNamed) {
  const Topology topology = *make_topology("ring:4");
  const AlwaysUp policy;
  Notes notes;
  auto network = Network::make(topology, distinct_delays(), policy, notes, {});
  ASSERT_TRUE(network);
  for (std::uint32_t n = 0; n < 4; ++n) {
    (*network)->send(NodeId(n), NodeId((n + 3) % 4), Bytes{20 * 256}, Time::zero());
  }
  const Result<bool> remains = (*network)->run(Time::never());
  ASSERT_TRUE(remains);
  EXPECT_FALSE(*remains);  // Nothing will ever happen again, and yet:
  EXPECT_LT((*network)->counts().packets_delivered, (*network)->counts().packets_sent);
  const std::string circle = (*network)->find_deadlock();
  for (const char* part : {"(0) from (3) VC 0", "(1) from (0) VC 0", "->"}) {
    EXPECT_NE(circle.find(part), std::string::npos) << circle;
  }
}

TEST(Deadlock, IsNotSeenWhereThereIsNone) {
  auto rig = make_rig("ring:4", "dor", distinct_delays());
  for (std::uint32_t n = 0; n < 4; ++n)
    rig->network->send(NodeId(n), NodeId((n + 2) % 4), Bytes{20 * 256}, Time::zero());
  ASSERT_TRUE(rig->network->run(Time::ps(3'000'000)));
  EXPECT_EQ(rig->network->find_deadlock(), "");
}

// A head that chooses late finds the escape also where an adaptive VC of the same cable is full.
TEST(Late, HeadsTakeTheEscapeOfTheCableTheyPrefer) {
  for (const char* const net : {"mesh:5x2,p=2", "torus:5x2,p=2", "random:n=10,d=3,p=2"}) {
    NetworkHardware m;
    m.commit = false;
    m.lookahead = true;
    m.arbitration = Arbitration::age;
    auto rig = make_rig(net, "min-adaptive", m);
    const std::uint32_t nodes = rig->topology.graph.node_count();
    Rng rng(1);
    for (int i = 0; i < 2000; ++i) {
      const auto from = static_cast<std::uint32_t>(i) % nodes;
      const bool hot = rng.below(3) == 0;
      const auto to = hot ? nodes - 1 : static_cast<std::uint32_t>(rng.below(nodes));
      rig->network->send(NodeId(from), NodeId(to), Bytes{256}, Time::zero());
    }
    ASSERT_TRUE(rig->network->run(Time::never()));
    EXPECT_EQ(rig->network->counts().packets_delivered, 2000u) << net;
  }
}

TEST(Unroutable, PacketsEndTheRunWithTheirNames) {
  const Topology whole = *make_topology("mesh:3");
  const std::vector<LinkId> broken = {whole.graph.link(RouterId(1), Lattice::up_port(0))};
  const Topology topology{whole.name, whole.shape, Graph::with_down(whole.graph, broken)};
  auto policy = make_policy("dor", topology, 1);
  ASSERT_TRUE(policy);
  Notes notes;
  auto network = Network::make(topology, distinct_delays(), **policy, notes, {});
  ASSERT_TRUE(network);
  (*network)->send(NodeId(0), NodeId(2), Bytes{1}, Time::zero());
  const Result<bool> remains = (*network)->run(Time::never());
  ASSERT_FALSE(remains);
  EXPECT_NE(remains.error().message().find("no way from (1"), std::string::npos)
      << remains.error().message();
}

TEST(NetworkHardware, RefusesWhatCannotBe) {
  const auto error_of = [](NetworkHardware m) {
    const Status status = check_hardware(m);
    return status ? std::string() : status.error().message();
  };
  NetworkHardware m = distinct_delays();
  EXPECT_EQ(error_of(m), "");
  m.buffer = Bytes{255};
  EXPECT_NE(error_of(m).find("router.buffer of 255 B is smaller than one packet"),
            std::string::npos);
  m = distinct_delays();
  m.output_buffer = Bytes{100};
  EXPECT_NE(error_of(m).find("router.output_buffer"), std::string::npos);
  m = distinct_delays();
  m.link.delay = Duration::zero();
  EXPECT_NE(error_of(m).find("link.delay"), std::string::npos);
  m = distinct_delays();
  m.vcs = 33;
  EXPECT_NE(error_of(m).find("router.vcs"), std::string::npos);
  m = distinct_delays();
  m.mtu = Bytes{1 << 20};
  EXPECT_NE(error_of(m).find("packet.mtu"), std::string::npos);
  m = distinct_delays();
  m.link.rate = Rate::bit_per_s(1000);
  EXPECT_NE(error_of(m).find("link.rate"), std::string::npos);
}

TEST(NetworkHardware, RefusesMoreBuffersThanCanBeNumbered) {
  const Topology topology = *make_topology("torus:64x32x32");
  auto policy = make_policy("dor", topology, 32);
  ASSERT_TRUE(policy);
  NetworkHardware m = distinct_delays();
  m.vcs = 32;
  m.buffer = m.mtu * 32000;
  Notes notes;
  const auto network = Network::make(topology, m, **policy, notes, {});
  ASSERT_FALSE(network);
  EXPECT_NE(network.error().message().find("router.buffer"), std::string::npos)
      << network.error().message();
}

TEST(NetworkHardware, IsReadFromAFileWithLineNumbers) {
  const Topology topology = *make_topology("dragonfly:a=4,h=2,p=2");
  const auto read = [&](const std::string& text) {
    auto config = Config::read_text(text, "net.toml");
    EXPECT_TRUE(config) << config.error().text();
    NetworkHardware m;
    Status status = read_hardware(*config, topology, m);
    if (status) status = check_hardware_in(*config, m);
    return status
               ? "ok " + std::to_string(m.vcs) + " " + std::to_string(m.link_class.count("global"))
               : status.error().text();
  };
  EXPECT_EQ(read("[router]\nvcs = 3\n[link.global]\ndelay = \"50 ns\"\n"), "ok 3 1");
  EXPECT_EQ(read("[router]\nbuffer = \"100 B\"\n").substr(0, 12), "net.toml:2: ");
  EXPECT_NE(read("[router]\nroute = 5\n").find("net.toml:2: "), std::string::npos);
  EXPECT_NE(read("[router]\n\nvsc = 5\n").find("net.toml:3: unknown key 'vsc'"), std::string::npos);
  EXPECT_NE(read("[link.glbal]\nrate = \"1 GB/s\"\n").find("'global'"), std::string::npos);
  EXPECT_NE(
      read("[router]\narbitration = \"fair\"\n").find("net.toml:2: unknown arbitration 'fair'"),
      std::string::npos);
}

}  // namespace
}  // namespace weft
