// SPDX-License-Identifier: Apache-2.0
// What routers know of the lines ahead of them: when it is true, what it costs, and that data never
// waits for it. How it travels in detail is compared with the oracle in tests/property.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {
namespace {

class Notes final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery& d) override { arrived.emplace_back(d.cookie, d.arrived); }
  std::vector<std::pair<std::uint64_t, Time>> arrived;
};

struct Rig {
  // broken: the router whose cable to the right does not work.
  Rig(const std::string& spec, const std::string& routing, NetworkHardware machine, int broken = -1)
      : topology(*make_topology(spec)) {
    if (broken >= 0) {
      const LinkId link = topology.graph.link(RouterId(static_cast<std::uint32_t>(broken)), 0);
      topology.graph = Graph::with_down(topology.graph, std::vector<LinkId>{link});
    }
    machine.vcs = vcs_needed(routing, topology);
    policy = *make_policy(routing, topology, machine.vcs);
    network = *Network::make(topology, machine, *policy, notes, {});
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
  std::uint64_t news() const {
    std::uint64_t sum = 0;
    for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l)
      sum += network->link(LinkId(l)).news;
    return sum;
  }
  // Every bit of every line, as the router it is about has it itself. Returns how many differ.
  int stale() const {
    const Lines& lines = *policy->lines();
    int wrong = 0;
    for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r)
      for (int port = 0; port < lines.ports(); ++port)
        for (int l = 0; l < lines.count(); ++l) wrong += stale_bits(RouterId(r), port, l);
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
  std::vector<std::uint64_t> all_words() const {
    std::vector<std::uint64_t> words;
    for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r)
      for (int port = 0; port < policy->lines()->ports(); ++port)
        for (int l = 0; l < policy->lines()->count(); ++l)
          words.push_back(network->line(RouterId(r), port, l).word & 1);
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
TEST(News, IsTrueOnceNothingHasChangedForTheLengthOfALine) {
  for (const NewsMode mode : {NewsMode::sideband, NewsMode::instant}) {
    NetworkHardware m = with_news(mode);
    m.mtu = Bytes{4096};
    Rig rig("torus:6x6", "crossline", m);
    rig.storm(200);
    int quiet = 0, looked = 0, busy = 0;
    std::vector<std::uint64_t> before;
    const Duration hop = Duration::ns(2);
    for (Time t = Time::ps(0) + hop; *rig.network->run(t); t = t + hop) {
      const std::vector<std::uint64_t> now = rig.all_words();
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

TEST(News, IsTrueInBandWhenAllIsQuiet) {
  for (const char* routing : {"crossline", "crossline:escape", "crossline:unknown,ring"}) {
    Rig rig("torus:6x5", routing, with_news(NewsMode::inband));
    rig.storm(400);
    EXPECT_FALSE(*rig.network->run(Time::ps(1'000'000'000)));
    EXPECT_EQ(rig.stale(), 0) << routing;
    EXPECT_GT(rig.news(), 400u);
  }
}

TEST(News, SpreadsFromNothingWhereNothingIsKnown) {
  Rig rig("mesh:8x2", "crossline:unknown", with_news(NewsMode::inband));
  const auto known = [&] { return rig.network->line(RouterId(0), 0, 0).length; };
  EXPECT_EQ(known(), 1);
  EXPECT_TRUE(*rig.network->run(Time::ps(4'500)));
  EXPECT_EQ(known(), 3);  // Two cycles a hop.
  EXPECT_FALSE(*rig.network->run(Time::ps(1'000'000)));
  EXPECT_EQ(known(), 7);
}

TEST(News, DoesNotTravelWhereItIsSwitchedOffOrNobodyAsks) {
  Rig off("mesh:6x6", "crossline", with_news(NewsMode::none));
  off.storm(200);
  EXPECT_FALSE(*off.network->run(Time::ps(1'000'000'000)));
  EXPECT_EQ(off.news(), 0u);
  EXPECT_EQ(off.network->line(RouterId(0), 0, 0).length, 1);
  Rig dor("mesh:6x6", "dor", with_news(NewsMode::inband));
  dor.storm(200);
  EXPECT_FALSE(*dor.network->run(Time::ps(1'000'000'000)));
  EXPECT_EQ(dor.news(), 0u);
}

// With what it says ignored, data cannot tell whether there is any.
TEST(News, NeverDelaysData) {
  for (const char* routing : {"crossline:order", "crossline:order,escape"}) {
    std::vector<std::vector<std::pair<std::uint64_t, Time>>> runs;
    for (const NewsMode mode :
         {NewsMode::none, NewsMode::inband, NewsMode::sideband, NewsMode::instant}) {
      Rig rig("torus:6x6", routing, with_news(mode));
      rig.storm(1500);
      EXPECT_FALSE(*rig.network->run(Time::ps(1'000'000'000)));
      EXPECT_EQ(rig.notes.arrived.size(), 1500u);
      std::sort(rig.notes.arrived.begin(), rig.notes.arrived.end());
      runs.push_back(rig.notes.arrived);
    }
    for (std::size_t i = 1; i < runs.size(); ++i) EXPECT_EQ(runs[i], runs[0]) << routing << i;
  }
}

TEST(News, TakesMoreFlitsWhereAFlitCarriesLess) {
  std::vector<std::uint64_t> flits;
  for (const int bits : {64, 6, 3}) {
    NetworkHardware m = with_news(NewsMode::inband);
    m.news.bits = bits;
    Rig rig("torus:6x6", "crossline", m);
    rig.storm(400);
    EXPECT_FALSE(*rig.network->run(Time::ps(1'000'000'000)));
    flits.push_back(rig.news());
  }
  EXPECT_LT(flits[0], flits[1]);
  EXPECT_LT(flits[1], flits[2]);
}

// 31 elements in flits of 8 bits: in four pieces, and all of it arrives.
TEST(News, OfALongLineGoesInPieces) {
  std::vector<std::uint64_t> flits;
  for (const int bits : {31, 8}) {
    NetworkHardware m = with_news(NewsMode::inband);
    m.news.bits = bits;
    Rig rig("mesh:32x2", "crossline:escape,unknown", m);
    EXPECT_FALSE(*rig.network->run(Time::ps(100'000'000)));
    EXPECT_EQ(rig.stale(), 0);
    EXPECT_EQ(rig.network->line(RouterId(0), 0, 0).length, 31);
    rig.storm(300);
    EXPECT_FALSE(*rig.network->run(Time::ps(1'000'000'000)));
    EXPECT_EQ(rig.stale(), 0);
    flits.push_back(rig.news());
  }
  EXPECT_LT(flits[0], flits[1]);
}

TEST(News, EndsAtABrokenCable) {
  for (const char* routing : {"crossline", "crossline:escape", "crossline:unknown"}) {
    Rig rig("mesh:6x2", routing, with_news(NewsMode::sideband), 3);
    EXPECT_FALSE(*rig.network->run(Time::ps(100'000'000)));
    EXPECT_EQ(rig.network->line(RouterId(0), 0, 0).length, 3) << routing;
    EXPECT_EQ(rig.network->line(RouterId(2), 0, 0).length, 1) << routing;
    EXPECT_EQ(rig.network->line(RouterId(3), 0, 0).length, 0) << routing;
    EXPECT_EQ(rig.network->line(RouterId(4), 0, 0).length, 1) << routing;
  }
}

TEST(News, OfMeansCannotBeInstant) {
  const Topology t = *make_topology("mesh:4x4");
  const auto policy = *make_policy("rca-1d", t, 2);
  Notes notes;
  NetworkHardware m = with_news(NewsMode::instant);
  m.vcs = 2;
  const auto made = Network::make(t, m, *policy, notes, {});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("use sideband"), std::string::npos);
}

}  // namespace
}  // namespace weft
