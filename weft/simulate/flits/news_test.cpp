// SPDX-License-Identifier: Apache-2.0
// What routers of the flit model know of the lines ahead of them, and every policy there is: all
// packets arrive, and on a quiet network they go where the model of packets sends them.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/simulate/flits/flit_network.hpp>

namespace weft {
namespace {

class Notes final : public Host {
 public:
  struct Planned {
    Time at;
    NodeId to;
    std::uint64_t cookie;
  };
  // The node's next message is due.
  Time alarm(int, NodeId node, Time now) override {
    std::vector<Planned>& left = plans[node.index];
    network->send(node, left.back().to, Bytes{32}, now, left.back().cookie);
    left.pop_back();
    return left.empty() ? Time::never() : left.back().at;
  }
  void delivered(int, const Delivery& d) override { list.push_back(d); }
  // By cookie.
  const std::vector<Delivery>& sorted() {
    std::sort(list.begin(), list.end(),
              [](const Delivery& a, const Delivery& b) { return a.cookie < b.cookie; });
    return list;
  }
  std::vector<Delivery> list;
  std::map<std::uint32_t, std::vector<Planned>> plans;  // By node, the next one last.
  Network* network = nullptr;
};

enum class Model { flits, packets };

struct Rig {
  // broken: the router whose cable to the right does not work.
  Rig(const std::string& spec, const std::string& routing, NetworkHardware machine,
      const FlitModel& model = {}, int broken = -1, Model which = Model::flits)
      : topology(*make_topology(spec)) {
    if (broken >= 0) {
      const LinkId link = topology.graph.link(RouterId(static_cast<std::uint32_t>(broken)), 0);
      topology.graph = Graph::with_down(topology.graph, std::vector<LinkId>{link});
    }
    machine.vcs = std::max(machine.vcs, vcs_needed(routing, topology));
    policy = *make_policy(routing, topology, machine.vcs);
    auto made = which == Model::flits
                    ? make_flit_network(topology, machine, *policy, notes, {}, model)
                    : Network::make(topology, machine, *policy, notes, {});
    EXPECT_TRUE(made) << made.error().text();
    network = std::move(*made);
  }
  // Everybody sends at once, to a few nodes mostly.
  void storm(int messages) {
    Rng rng(9);
    const std::uint64_t nodes = topology.graph.node_count();
    for (int i = 0; i < messages; ++i) {
      const auto from = static_cast<std::uint32_t>(rng.below(nodes));
      const auto to = static_cast<std::uint32_t>(rng.coin() ? rng.below(3) : rng.below(nodes));
      network->send(NodeId(from), NodeId(to), Bytes{1 + static_cast<std::int64_t>(rng.below(700))},
                    Time::ps(static_cast<std::int64_t>(rng.below(400)) * 1000),
                    static_cast<std::uint64_t>(i));
    }
  }
  // One message at a time.
  void alone(std::uint64_t messages) {
    Rng rng(test_seed());
    const std::uint64_t nodes = topology.graph.node_count();
    for (std::uint64_t i = messages; i > 0; --i) {
      const auto from = static_cast<std::uint32_t>(rng.below(nodes));
      const NodeId to(static_cast<std::uint32_t>(rng.below(nodes)));
      const Time at = Time::zero() + Duration::ns(static_cast<std::int64_t>(i) * 500);
      notes.plans[from].push_back({at, to, i});
    }
    notes.network = network.get();
    for (const auto& [node, plan] : notes.plans) network->set_alarm(NodeId(node), plan.back().at);
  }
  void finish() {
    const auto ran = network->run(Time::never());
    ASSERT_TRUE(ran) << ran.error().text();
    EXPECT_FALSE(*ran);
    EXPECT_EQ(network->find_deadlock(), "");
    EXPECT_EQ(network->counts().packets_sent, network->counts().packets_delivered);
  }
  std::uint64_t news() const {
    std::uint64_t sum = 0;
    for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l)
      sum += network->link(LinkId(l)).news;
    return sum;
  }
  template <typename Visit>
  void each_line(Visit&& visit) const {
    const Lines& lines = *policy->lines();
    for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r)
      for (int port = 0; port < lines.ports(); ++port)
        for (int l = 0; l < lines.count(); ++l) visit(RouterId(r), port, l);
  }
  // Bits that are not as the router that they are about has them itself.
  int stale() const {
    int wrong = 0;
    each_line(
        [&](RouterId router, int port, int line) { wrong += stale_bits(router, port, line); });
    return wrong;
  }
  int stale_bits(RouterId router, int port, int line) const {
    const LineNews known = network->line(router, port, line);
    const Lines& lines = *policy->lines();
    int wrong = lines.line(router, port, line).length - known.length;
    for (int i = 0; i < known.length; ++i) {
      const std::uint64_t own = network->line(router, port, line).word & 1;
      wrong += ((known.word >> i) & 1) != own ? 1 : 0;
      line = lines.line(router, port, line).next;
      router = topology.graph.port(topology.graph.link(router, port)).peer;
      if (line < 0) break;
    }
    return wrong;
  }
  std::vector<std::uint64_t> nearest() const {
    std::vector<std::uint64_t> words;
    each_line([&](RouterId router, int port, int line) {
      words.push_back(network->line(router, port, line).word & 1);
    });
    return words;
  }

  Topology topology;
  std::unique_ptr<Policy> policy;
  Notes notes;
  std::unique_ptr<Network> network;
};

NetworkHardware with_news(NewsMode mode) {
  NetworkHardware m;
  m.news.mode = mode;
  return m;
}

// Large packets, so that there are pauses in which nothing changes while much is busy.
TEST(FlitNews, IsTrueOnceNothingHasChangedForTheLengthOfALine) {
  for (const NewsMode mode : {NewsMode::sideband, NewsMode::instant}) {
    NetworkHardware m = with_news(mode);
    m.mtu = Bytes{4096};
    Rig rig("torus:6x6", "crossline", m);
    rig.storm(200);
    int quiet = 0, looked = 0, busy = 0;
    std::vector<std::uint64_t> before;
    const Duration hop = Duration::ns(2);
    for (Time t = Time::ps(0) + hop; *rig.network->run(t); t = t + hop) {
      const std::vector<std::uint64_t> now = rig.nearest();
      quiet = now == before ? quiet + 1 : 0;
      before = now;
      if (quiet < 5) continue;  // Lines of 3, and news on its way.
      ++looked;
      busy += static_cast<int>(std::count(now.begin(), now.end(), 0));
      ASSERT_EQ(rig.stale(), 0) << "at " << t.in_ps();
    }
    EXPECT_GT(looked, 50);
    EXPECT_GT(busy, 1000);
  }
}

TEST(FlitNews, IsTrueInBandWhenAllIsQuiet) {
  for (const char* routing : {"crossline", "crossline:escape", "crossline:unknown,ring"}) {
    Rig rig("torus:6x5", routing, with_news(NewsMode::inband));
    rig.storm(400);
    rig.finish();
    EXPECT_EQ(rig.stale(), 0) << routing;
    EXPECT_GT(rig.news(), 400u);
  }
}

TEST(FlitNews, SpreadsFromNothingWhereNothingIsKnown) {
  Rig rig("mesh:8x2", "crossline:unknown", with_news(NewsMode::inband));
  const auto known = [&] { return rig.network->line(RouterId(0), 0, 0).length; };
  EXPECT_EQ(known(), 1);
  EXPECT_TRUE(*rig.network->run(Time::ps(4'500)));
  EXPECT_EQ(known(), 3);  // Two cycles a hop, as with packets.
  EXPECT_FALSE(*rig.network->run(Time::ps(1'000'000)));
  EXPECT_EQ(known(), 7);
}

TEST(FlitNews, DoesNotTravelWhereItIsSwitchedOffOrNobodyAsks) {
  Rig off("mesh:6x6", "crossline", with_news(NewsMode::none));
  off.storm(200);
  off.finish();
  EXPECT_EQ(off.news(), 0u);
  EXPECT_EQ(off.network->line(RouterId(0), 0, 0).length, 1);
  Rig dor("mesh:6x6", "dor", with_news(NewsMode::inband));
  dor.storm(200);
  dor.finish();
  EXPECT_EQ(dor.news(), 0u);
}

// With what it says ignored, data cannot tell whether there is any.
TEST(FlitNews, NeverDelaysData) {
  for (const char* routing : {"crossline:order", "crossline:order,escape"}) {
    std::vector<std::vector<std::int64_t>> runs;
    for (const NewsMode mode :
         {NewsMode::none, NewsMode::inband, NewsMode::sideband, NewsMode::instant}) {
      Rig rig("torus:6x6", routing, with_news(mode));
      rig.storm(1500);
      rig.finish();
      EXPECT_EQ(rig.notes.list.size(), 1500u);
      runs.emplace_back();
      for (const Delivery& d : rig.notes.sorted()) runs.back().push_back(d.arrived.in_ps());
    }
    for (std::size_t i = 1; i < runs.size(); ++i) EXPECT_EQ(runs[i], runs[0]) << routing << i;
  }
}

TEST(FlitNews, AndDataNeverShareACycleOfACable) {
  const NetworkHardware m = with_news(NewsMode::inband);
  Rig rig("torus:5x4", "crossline", m);
  rig.storm(600);
  const Duration cycle = serialise(m.flit, m.link.rate);
  std::vector<LinkCount> before(rig.topology.graph.link_count());
  for (Time t = Time::zero() + cycle; *rig.network->run(t); t = t + cycle) {
    for (std::uint32_t l = 0; l < before.size(); ++l) {
      const LinkCount now = rig.network->link(LinkId(l));
      ASSERT_LE(now.news - before[l].news + (now.bytes != before[l].bytes ? 1 : 0), 1u);
      before[l] = now;
    }
  }
  EXPECT_GT(rig.news(), 400u);
}

TEST(FlitNews, TakesMoreFlitsWhereAFlitCarriesLess) {
  std::vector<std::uint64_t> flits;
  for (const int bits : {64, 6, 3}) {
    NetworkHardware m = with_news(NewsMode::inband);
    m.news.bits = bits;
    Rig rig("torus:6x6", "crossline", m);
    rig.storm(400);
    rig.finish();
    EXPECT_EQ(rig.stale(), 0);
    flits.push_back(rig.news());
  }
  EXPECT_LT(flits[0], flits[1]);
  EXPECT_LT(flits[1], flits[2]);
}

TEST(FlitNews, EndsAtABrokenCable) {
  for (const char* routing : {"crossline", "crossline:escape", "crossline:unknown"}) {
    Rig rig("mesh:6x2", routing, with_news(NewsMode::sideband), {}, 3);
    rig.finish();
    EXPECT_EQ(rig.network->line(RouterId(0), 0, 0).length, 3) << routing;
    EXPECT_EQ(rig.network->line(RouterId(2), 0, 0).length, 1) << routing;
    EXPECT_EQ(rig.network->line(RouterId(3), 0, 0).length, 0) << routing;
    EXPECT_EQ(rig.network->line(RouterId(4), 0, 0).length, 1) << routing;
  }
}

class EveryPolicy : public testing::TestWithParam<const char*> {};

TEST_P(EveryPolicy, BringsAllToTheirPlaces) {
  const Topology topology = *make_topology(GetParam());
  int tried = 0;
  for (const PolicyEntry& entry : builtin_policies()) {
    const int needed = vcs_needed(entry.name, topology);
    for (int vcs = needed; needed > 0 && vcs < needed + 2; ++vcs) {
      for (const FlowControl control : {FlowControl::cut_through, FlowControl::wormhole}) {
        SCOPED_TRACE(std::string(entry.name) + ", " + std::to_string(vcs) + " VCs");
        NetworkHardware m;
        m.vcs = vcs;
        m.mtu = m.flit * 5;
        m.buffer = m.flit * 6;
        m.release = Release::head;
        m.lookahead = vcs != needed;
        if (control == FlowControl::wormhole &&
            (*make_policy(entry.name, topology, vcs))->facts().returns)
          continue;
        Rig rig(GetParam(), std::string(entry.name), m, {.flow_control = control});
        rig.storm(1200);
        rig.finish();
        EXPECT_EQ(rig.notes.list.size(), 1200u);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 0);
}

// One packet at a time, and one VC more than is needed at most: nothing waits for anything.
TEST_P(EveryPolicy, SendsPacketsWhereTheModelOfPacketsDoes) {
  const Topology topology = *make_topology(GetParam());
  for (const PolicyEntry& entry : builtin_policies()) {
    const int needed = vcs_needed(entry.name, topology);
    if (needed <= 0) continue;
    SCOPED_TRACE(entry.name);
    NetworkHardware m;
    m.vcs = needed;
    m.mtu = m.flit * 4;
    m.buffer = m.flit * 8;
    Rig flits(GetParam(), std::string(entry.name), m);
    Rig packets(GetParam(), std::string(entry.name), m, {}, -1, Model::packets);
    for (Rig* const rig : {&flits, &packets}) {
      rig->alone(300);
      rig->finish();
    }
    const std::vector<Delivery>&f = flits.notes.sorted(), &p = packets.notes.sorted();
    ASSERT_EQ(f.size(), p.size());
    for (std::size_t i = 0; i < f.size(); ++i) {
      EXPECT_EQ(f[i].arrived, p[i].arrived) << i;
      EXPECT_EQ(f[i].hops, p[i].hops) << i;
    }
    for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l)
      ASSERT_EQ(flits.network->link(LinkId(l)).packets, packets.network->link(LinkId(l)).packets);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryPolicy,
                         testing::Values("mesh:4x4", "mesh:4x3,p=2", "torus:5x4", "torus:3x3x3",
                                         "fattree:k=4,levels=2", "dragonfly:a=4,h=2,p=2",
                                         "hyperx:3x3,p=2", "slimfly:q=5,p=2",
                                         "random:n=16,d=4,seed=1,p=3", "hypercube:4",
                                         "complete:5,p=2"));

}  // namespace
}  // namespace weft
