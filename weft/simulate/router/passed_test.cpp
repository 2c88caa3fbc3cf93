// SPDX-License-Identifier: Apache-2.0
// What passes a link in an interval: never more than its rate allows, the same for every number of
// workers and processes, and in the end all that was sent.
#include "weft/simulate/router/passed.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/parallel/processes/local.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

class Silent final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery&) override {}
};

struct Sent {
  NodeId from, to;
  Bytes size;
  Duration gap;
};

// Every third message goes to node 0, the hot spot. One has no bytes, and still makes a packet.
std::vector<Sent> hot_spot(std::uint32_t nodes) {
  std::vector<Sent> list;
  Rng rng(5);
  for (std::uint32_t i = 0; i < std::min(4 * nodes, 48u); ++i) {
    const auto to = i % 3 == 0 ? 0 : static_cast<std::uint32_t>(rng.below(nodes));
    list.push_back({NodeId(i % nodes), NodeId(to), Bytes{static_cast<std::int64_t>(rng.below(900))},
                    Duration::ns(i % 5 == 0 ? 11 : 0)});
  }
  list[1].size = Bytes{0};
  return list;
}

// Bytes and packets on the wire of the messages that `chosen` accepts.
template <typename Chosen>
LinkCount on_wire(const NetworkHardware& m, const std::vector<Sent>& messages, Chosen&& chosen) {
  LinkCount sum;
  for (const Sent& one : messages) {
    if (!chosen(one)) continue;
    const std::int64_t packets =
        std::max<std::int64_t>((one.size.count + m.mtu.count - 1) / m.mtu.count, 1);
    sum.packets += static_cast<std::uint64_t>(packets);
    sum.bytes += static_cast<std::uint64_t>(
        std::max(one.size.count + packets * m.header.count, std::int64_t{1}));
  }
  return sum;
}

struct Scene {
  Topology topology;
  std::unique_ptr<Policy> policy;
  NetworkHardware machine;
  Duration step;
};

// What passed each link between routers, then each injection and ejection link, in each step.
using Series = std::vector<std::vector<LinkCount>>;

// `steps`: so many, or 0 until nothing moves any more.
Series play(const Scene& scene, std::size_t steps, int workers, ProcessGroup* peers = nullptr) {
  Silent host;
  NetworkOptions options;
  options.workers = workers;
  options.peers = peers;
  const auto network = *Network::make(scene.topology, scene.machine, *scene.policy, host, options);
  const Graph& graph = scene.topology.graph;
  for (const Sent& one : hot_spot(graph.node_count())) {
    if (network->is_here(one.from))
      network->send({one.from, one.to, one.size, 0, one.gap}, Time::zero());
  }
  Series series;
  std::vector<LinkCount> before(graph.link_count() + 2 * graph.node_count());
  const auto look = [&](Time at) {
    std::vector<LinkCount> now;
    for (std::uint32_t l = 0; l < graph.link_count(); ++l)
      now.push_back(network->link(LinkId(l), at));
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      const NodeLinkCount both = network->node_link(NodeId(n), at);
      now.push_back(both.injected);
      now.push_back(both.ejected);
    }
    series.emplace_back();
    for (std::size_t i = 0; i < now.size(); ++i)
      series.back().push_back({now[i].packets - before[i].packets, now[i].bytes - before[i].bytes});
    before = now;
  };
  // Once all is decided, the last packet still takes its time.
  Duration idle;
  for (Time at = Time::zero() + scene.step;
       steps == 0 ? idle < Duration::us(1) : series.size() < steps; at = at + scene.step) {
    if (!*network->run(at)) idle += scene.step;
    look(at);
  }
  return series;
}

// Of all processes together: a link belongs to one of them.
Series play_among(int processes, const Scene& scene, std::size_t steps) {
  const auto peers = make_local_group(processes);
  std::vector<Series> parts(peers.size());
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < peers.size(); ++p)
    threads.emplace_back([&, p] { parts[p] = play(scene, steps, 1, peers[p].get()); });
  for (std::thread& thread : threads) thread.join();
  Series sum = parts[0];
  for (std::size_t p = 1; p < parts.size(); ++p) {
    EXPECT_EQ(parts[p].size(), sum.size());
    for (std::size_t t = 0; t < sum.size(); ++t) {
      for (std::size_t i = 0; i < sum[t].size(); ++i) {
        sum[t][i].packets += parts[p][t][i].packets;
        sum[t][i].bytes += parts[p][t][i].bytes;
      }
    }
  }
  return sum;
}

bool same(const Series& a, const Series& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) {
      return p.packets == q.packets && p.bytes == q.bytes;
    });
  });
}

std::vector<double> rates_of(const Scene& scene) {
  const Graph& graph = scene.topology.graph;
  std::vector<double> rates;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    const Port& port = graph.port(LinkId(l));
    rates.push_back(
        port.connected()
            ? scene.machine.cabling(graph.link_classes()[port.link_class]).rate.in_byte_per_s()
            : 0);
  }
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    rates.push_back(scene.machine.injection_rate().in_byte_per_s());
    rates.push_back(scene.machine.ejection_rate().in_byte_per_s());
  }
  return rates;
}

void expect_no_step_above_the_rate(const Scene& scene, const Series& series) {
  const std::vector<double> rates = rates_of(scene);
  const double seconds = scene.step.in_seconds();
  for (std::size_t t = 0; t < series.size(); ++t) {
    for (std::size_t i = 0; i < rates.size(); ++i)
      ASSERT_LT(static_cast<double>(series[t][i].bytes), rates[i] * seconds + 1)
          << "step " << t << ", link " << i;
  }
}

void expect_all_was_counted(const Scene& scene, const Series& series) {
  const Graph& graph = scene.topology.graph;
  const auto total = [&](std::size_t link) {
    LinkCount sum;
    for (const auto& step : series) {
      sum.packets += step[link].packets;
      sum.bytes += step[link].bytes;
    }
    return sum;
  };
  const std::vector<Sent> messages = hot_spot(graph.node_count());
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const LinkCount out =
        on_wire(scene.machine, messages, [&](const Sent& one) { return one.from.index == n; });
    const LinkCount in =
        on_wire(scene.machine, messages, [&](const Sent& one) { return one.to.index == n; });
    const std::size_t first = graph.link_count() + 2 * std::size_t{n};
    ASSERT_EQ(total(first).bytes, out.bytes) << "injected by " << n;
    ASSERT_EQ(total(first).packets, out.packets) << "injected by " << n;
    ASSERT_EQ(total(first + 1).bytes, in.bytes) << "ejected to " << n;
    ASSERT_EQ(total(first + 1).packets, in.packets) << "ejected to " << n;
  }
}

// The plain router, even and uneven; the general one, with and without output buffers.
std::map<std::string, NetworkHardware> machines(int vcs) {
  NetworkHardware m = test_machine();
  m.vcs = vcs;
  m.header = Bytes{16};
  m.buffer = m.packet_max() * 3;
  m.news.bits = 512;
  std::map<std::string, NetworkHardware> list = {{"even", m}};
  NetworkHardware fast_ends = m;
  fast_ends.node_link.rate = Rate::gbyte_per_s(25);
  fast_ends.inject_rate = Rate::gbyte_per_s(12);
  list["cards faster than links"] = fast_ends;
  NetworkHardware slow_ends = m;
  slow_ends.eject_rate = Rate::gbyte_per_s(3);
  slow_ends.release = Release::head;
  slow_ends.order = SendOrder::round_robin;
  list["cards slower than links"] = slow_ends;
  NetworkHardware buffered = fast_ends;
  buffered.output_buffer = m.packet_max() * 2;
  buffered.switch_rate = Rate::gbyte_per_s(20);
  list["output buffers"] = buffered;
  NetworkHardware late = m;
  late.commit = false;
  late.lookahead = true;
  late.arbitration = Arbitration::age;
  late.link.rate = Rate::gbyte_per_s(7);
  list["late choice"] = late;
  return list;
}

class EveryNetwork : public testing::TestWithParam<const char*> {};

TEST_P(EveryNetwork, CountsWhatPassesWhenItPasses) {
  const Topology topology = *make_topology(GetParam());
  int tried = 0;
  for (const PolicyEntry& entry : builtin_policies()) {
    const int needed = vcs_needed(entry.name, topology);
    if (needed == 0) continue;
    for (const auto& [name, machine] : machines(std::max(needed, 2))) {
      SCOPED_TRACE(std::string(GetParam()) + ", " + std::string(entry.name) + ", " + name);
      // Shorter than a packet's time, and longer.
      for (const Duration step : {Duration::ns(7), Duration::ps(61'003)}) {
        auto policy = make_policy(entry.name, topology, machine.vcs);
        ASSERT_TRUE(policy) << policy.error().text();
        const Scene scene{topology, *std::move(policy), machine, step};
        const Series alone = play(scene, 0, 1);
        expect_no_step_above_the_rate(scene, alone);
        expect_all_was_counted(scene, alone);
        // Short steps on several workers take long: one policy is enough to see them agree.
        const bool first = tried < 2 * static_cast<int>(machines(2).size());
        if (first || step > Duration::ns(10)) {
          EXPECT_TRUE(same(play(scene, alone.size(), 2), alone)) << "two threads";
        }
        if (first && step > Duration::ns(10)) {
          EXPECT_TRUE(same(play_among(2, scene, alone.size()), alone)) << "two processes";
        }
        if (testing::Test::HasFailure()) return;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 10);
}

INSTANTIATE_TEST_SUITE_P(Specs, EveryNetwork,
                         testing::Values("torus:4x3,p=2", "mesh:4x3", "cube:3x3,wrap=10", "ring:6",
                                         "hypercube:3", "tofu:2x2x2", "fattree:k=2,levels=2",
                                         "xgft:m=3x2,w=1x2", "dragonfly:a=2,h=1,p=2",
                                         "hyperx:3x2,p=2", "complete:5", "slimfly:q=3,p=1",
                                         "polarfly:q=2,p=1", "random:n=10,d=3,p=2",
                                         "jellyfish:n=8,ports=4,p=1", "xpander:d=3,lift=2,p=1"),
                         [](const auto& tested) { return "case" + std::to_string(tested.index); });

// One packet of 256 bytes takes 32 ns: half of it has passed after 16.
TEST(Passed, APacketIsDividedInProportionToTime) {
  NetworkHardware m = test_machine();
  m.vcs = 1;
  m.inject_delay = Duration::ns(19);
  const Topology topology = *make_topology("mesh:2");
  const auto policy = *make_policy("dor", topology, m.vcs);
  Silent host;
  const auto network = *Network::make(topology, m, *policy, host, {});
  network->send(NodeId(0), NodeId(1), Bytes{256}, Time::zero());
  const Duration at_router = m.inject_delay + m.node_link.delay + m.route + m.vc_alloc;
  const Duration at_next =
      at_router + m.switch_alloc + m.switch_delay + m.link.delay + m.route + m.vc_alloc;
  LinkId link{0};
  for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l) {
    if (topology.graph.source_of(LinkId(l)) == RouterId(0) &&
        topology.graph.port(LinkId(l)).connected()) {
      link = LinkId(l);
    }
  }
  const auto expect = [&](Duration at, std::uint64_t injected, std::uint64_t carried,
                          std::uint64_t ejected) {
    ASSERT_TRUE(network->run(Time::zero() + at));
    EXPECT_EQ(network->node_link(NodeId(0), Time::zero() + at).injected.bytes, injected);
    EXPECT_EQ(network->link(link, Time::zero() + at).bytes, carried);
    EXPECT_EQ(network->node_link(NodeId(1), Time::zero() + at).ejected.bytes, ejected);
  };
  expect(Duration::ns(16), 128, 0, 0);
  expect(at_router, 256, 0, 0);
  expect(at_router + Duration::ns(8), 256, 64, 0);
  expect(at_router + Duration::ns(32), 256, 256, 0);
  expect(at_next + Duration::ns(24), 256, 256, 192);
  EXPECT_FALSE(*network->run(Time::never()));
  EXPECT_EQ(network->node_link(NodeId(1)).ejected.bytes, 256U);
  EXPECT_EQ(network->node_link(NodeId(1)).injected.packets, 0U);
}

// Three nodes send a packet to the fourth at the same time, over links of their own: they meet at
// its router, and each waits for those before it.
TEST(Waits, ForATurnAtAHotSpot) {
  NetworkHardware m = test_machine();
  m.buffer = m.mtu * 8;
  const Topology topology = *make_topology("complete:4");
  const auto policy = *make_policy("minimal", topology, m.vcs);
  Silent host;
  NetworkOptions options;
  options.measure_waits = true;
  const auto network = *Network::make(topology, m, *policy, host, options);
  for (std::uint32_t n = 0; n < 3; ++n)
    network->send(NodeId(n), NodeId(3), Bytes{256}, Time::zero());
  EXPECT_FALSE(*network->run(Time::never()));
  const LinkCount hot = network->node_link(NodeId(3)).ejected;
  EXPECT_EQ(hot.packets, 3U);
  EXPECT_EQ(hot.waited_for_turn, Duration::ns(32 + 64));
  EXPECT_EQ(hot.waited_for_room, Duration::zero());
  for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l) {
    EXPECT_EQ(network->link(LinkId(l)).waited_for_turn, Duration::zero());
    EXPECT_EQ(network->link(LinkId(l)).waited_for_room, Duration::zero());
  }
}

// A packet's time is that of an idle network and what it waited, on every link of its way.
TEST(Waits, AndIdleLatencyAreAllOfAPacketsTime) {
  class Sum final : public Host {
   public:
    Time alarm(int, NodeId, Time) override { return Time::never(); }
    void delivered(int, const Delivery& d) override {
      taken += d.arrived - d.entered;
      hops += d.hops;
      bytes += d.size;
      ++count;
    }
    Duration taken;
    std::int64_t hops = 0, count = 0;
    Bytes bytes;
  };
  for (const char* spec : {"torus:4x4,p=2", "mesh:3x5"}) {
    for (NetworkHardware m : {machines(2).at("even"), machines(2).at("late choice")}) {
      m.header = Bytes{0};
      m.link.rate = m.node_link.rate;
      const Topology topology = *make_topology(spec);
      const auto policy = *make_policy("dor", topology, m.vcs);
      Sum sum;
      NetworkOptions options;
      options.measure_waits = true;
      const auto network = *Network::make(topology, m, *policy, sum, options);
      const std::uint32_t nodes = topology.graph.node_count();
      Rng rng(7);
      for (std::uint32_t i = 0; i < 30 * nodes; ++i) {
        const auto to = i % 4 == 0 ? 0 : static_cast<std::uint32_t>(rng.below(nodes));
        const auto size =
            static_cast<std::int64_t>(m.flit.count + static_cast<std::int64_t>(rng.below(200)));
        network->send(NodeId(i % nodes), NodeId(to), Bytes{size}, Time::zero());
      }
      EXPECT_FALSE(*network->run(Time::never()));
      Duration waited;
      for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l)
        waited += network->link(LinkId(l)).waited();
      for (std::uint32_t n = 0; n < nodes; ++n)
        waited += network->node_link(NodeId(n)).ejected.waited();
      const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
      const Duration idle =
          (m.inject_delay + m.node_link.delay * 2 + router + m.eject_delay) * sum.count +
          (router + m.link.delay) * sum.hops +
          serialise(sum.bytes - m.flit * sum.count, m.link.rate);
      EXPECT_GT(waited, idle);
      EXPECT_EQ((sum.taken - waited).in_ps(), idle.in_ps()) << spec;
    }
  }
}

// Buffers of one packet: the second packet of a message waits until the credit for the first is
// back, at the card and at the router, and nothing else is in its way.
TEST(Waits, ForRoomBehindALink) {
  NetworkHardware m = test_machine();
  m.vcs = 1;
  m.buffer = m.mtu;
  m.link.credit_delay = Duration::ns(900);
  const Topology topology = *make_topology("mesh:2");
  const auto policy = *make_policy("dor", topology, m.vcs);
  Silent host;
  NetworkOptions options;
  options.measure_waits = true;
  const auto network = *Network::make(topology, m, *policy, host, options);
  network->send(NodeId(0), NodeId(1), m.mtu * 2, Time::zero());
  EXPECT_FALSE(*network->run(Time::never()));
  LinkCount link;
  for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l) {
    if (network->link(LinkId(l)).packets > 0) link = network->link(LinkId(l));
  }
  ASSERT_EQ(link.packets, 2U);
  EXPECT_EQ(link.waited_for_turn, Duration::zero());
  // The second packet is ready when the card's credit is back; the link's takes far longer.
  EXPECT_GT(link.waited_for_room, Duration::ns(700));
  EXPECT_LT(link.waited_for_room, Duration::ns(1400));
  const LinkCount injected = network->node_link(NodeId(0)).injected;
  EXPECT_EQ(injected.waited_for_turn, Duration::zero());
  EXPECT_GT(injected.waited_for_room, Duration::zero());
  EXPECT_EQ(network->node_link(NodeId(1)).ejected.waited_for_turn, Duration::zero());
}

}  // namespace
}  // namespace weft::detail
