// SPDX-License-Identifier: Apache-2.0
// Paths against the routing policies themselves, walked hop by hop for all pairs.
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/policy.hpp>
#include <weft/network/topo/search.hpp>
#include <weft/study/map/lattice_paths.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

using Shares = std::map<std::uint32_t, std::uint32_t>;  // By link.

const char* const cubes[] = {
    "mesh:5",        "mesh:4x3",         "mesh:2x2x2",          "torus:7",
    "torus:8",       "torus:4x4",        "torus:5x3",           "torus:6x5x4",
    "torus:2x4x3",   "torus:4x2",        "torus:3,p=2",         "torus:4x3,p=2",
    "torus:4x3x2x4", "cube:4x4,wrap=10", "cube:5x4x2,wrap=011", "torus:16x4"};

class AllUp final : public PortView {
 public:
  explicit AllUp(std::span<const Port> ports) : ports_(ports) {}
  bool up(int port) const override { return ports_[static_cast<std::size_t>(port)].usable(); }
  Bytes free(int, int) const override { return Bytes{1 << 20}; }
  Bytes queued(int) const override { return Bytes{0}; }

 private:
  std::span<const Port> ports_;
};

// The links that a packet crosses; with `bits` it tosses its coins.
std::vector<std::uint32_t> follow(const Topology& t, const Policy& policy, NodeId from, NodeId to,
                                  std::uint64_t bits) {
  std::vector<std::uint32_t> links;
  Flight flight{.destination = t.graph.router_of(to),
                .state = bits,
                .source_node = from,
                .destination_node = to};
  RouterId here = t.graph.router_of(from);
  for (;;) {
    Choices choices;
    policy.next(here, flight, AllUp(t.graph.ports(here)), choices);
    if (choices.empty() || links.size() > 1000) return {anywhere};
    if (choices[0].port == Choice::eject) return links;
    const LinkId link = t.graph.link(here, choices[0].port);
    links.push_back(link.index);
    flight.state = choices[0].state;
    ++flight.hops;
    here = t.graph.port(link).peer;
  }
}

std::unique_ptr<Policy> policy_of(const std::string& routing, const Topology& t) {
  auto made = make_policy(routing, t, std::max(1, vcs_usual(routing, t)));
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

std::unique_ptr<Paths> ways_on(const Topology& t, const std::string& routing) {
  auto made = make_paths(t, routing);
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

Shares shares_of(Paths& paths, NodeId from, NodeId to) {
  Shares made;
  for (const Crossing& c : paths.between(from, to)) made[c.link] += c.share;
  return made;
}

template <typename Check>
void for_all_pairs(const Topology& t, Check check) {
  for (std::uint32_t a = 0; a < t.graph.node_count(); ++a)
    for (std::uint32_t b = 0; b < t.graph.node_count(); ++b) check(NodeId(a), NodeId(b));
}

void check_pour(const Topology& t, Paths& paths, NodeId from, NodeId to) {
  Deltas deltas;
  deltas.by_link.assign(t.graph.link_count(), 0);
  EXPECT_EQ(paths.pour(from, to, 3, deltas), paths.hops(from, to));
  std::size_t touched = 0;
  for (const auto& [link, share] : shares_of(paths, from, to)) {
    EXPECT_EQ(deltas.by_link[link], 3.0 * share);
    deltas.by_link[link] = 0;
    ++touched;
  }
  EXPECT_EQ(deltas.count, touched);
  for (const double d : deltas.by_link) EXPECT_EQ(d, 0);
}

// Where a policy has one way, that is the way.
void check_one_way(const Topology& t, const std::string& routing) {
  SCOPED_TRACE(t.name + " " + routing);
  const auto policy = policy_of(routing, t);
  const auto paths = ways_on(t, routing);
  EXPECT_EQ(paths->whole(), 1u);
  for_all_pairs(t, [&](NodeId a, NodeId b) {
    const auto links = follow(t, *policy, a, b, 0);
    Shares wanted;
    for (const std::uint32_t l : links) wanted[l] += 1;
    ASSERT_EQ(shares_of(*paths, a, b), wanted) << a.index << " to " << b.index;
    ASSERT_EQ(paths->hops(a, b), links.size());
    check_pour(t, *paths, a, b);
  });
}

// Into every router on the way goes as much as comes out.
void check_spread(const Topology& t, Paths& paths, NodeId from, NodeId to) {
  const RouterId a = t.graph.router_of(from);
  const RouterId b = t.graph.router_of(to);
  const int far = distances_from(t.graph, a)[b.index];
  std::map<std::uint32_t, std::int64_t> left;
  std::uint64_t sum = 0;
  for (const auto& [link, share] : shares_of(paths, from, to)) {
    ASSERT_TRUE(t.graph.port(LinkId(link)).usable());
    ASSERT_GT(share, 0u);
    left[t.graph.source_of(LinkId(link)).index] += share;
    left[t.graph.port(LinkId(link)).peer.index] -= share;
    sum += share;
  }
  if (far < 0) {
    EXPECT_EQ(paths.hops(from, to), no_way_hops);
    EXPECT_EQ(sum, 0u);
    return;
  }
  EXPECT_EQ(paths.hops(from, to), static_cast<std::uint32_t>(far));
  EXPECT_EQ(sum, std::uint64_t{paths.whole()} * static_cast<std::uint64_t>(far));
  for (const auto& [router, balance] : left) {
    const std::int64_t whole = paths.whole();
    const std::int64_t wanted = router == a.index ? whole : router == b.index ? -whole : 0;
    EXPECT_EQ(balance, far == 0 ? 0 : wanted);
  }
}

TEST(LatticePaths, GoWhereThePolicyGoes) {
  for (const char* spec : cubes) check_one_way(*network(spec), "dor:up");
}

TEST(LatticePaths, BothWaysRoundWhereTheyAreEquallyLong) {
  for (const char* spec : cubes) {
    SCOPED_TRACE(spec);
    const auto t = network(spec);
    const auto policy = policy_of("dor", *t);
    const auto paths = ways_on(*t, "dor");
    const auto up = ways_on(*t, "dor:up");
    for_all_pairs(*t, [&](NodeId a, NodeId b) {
      const Shares shares = shares_of(*paths, a, b);
      std::uint64_t sum = 0;
      for (const auto& [link, share] : shares) {
        ASSERT_LE(share, paths->whole());
        sum += share;
      }
      ASSERT_EQ(paths->hops(a, b), up->hops(a, b));
      ASSERT_EQ(sum, std::uint64_t{paths->whole()} * paths->hops(a, b));
      check_pour(*t, *paths, a, b);
      // Whatever coins a packet tosses, it stays on these links; and all of them are used.
      Rng rng(7);
      std::set<std::uint32_t> seen;
      for (int i = 0; i < 40; ++i)
        for (const std::uint32_t l : follow(*t, *policy, a, b, rng.next())) seen.insert(l);
      ASSERT_EQ(seen.size(), shares.size());
      for (const std::uint32_t l : seen) ASSERT_TRUE(shares.contains(l));
    });
  }
}

TEST(LatticePaths, HalfOfItAtATie) {
  const auto t = network("torus:4x3");
  const auto paths = ways_on(*t, "dor");
  ASSERT_EQ(paths->whole(), 2u);
  const Shares tie = shares_of(*paths, NodeId(0), NodeId(2));
  EXPECT_EQ(tie.size(), 4u);
  for (const auto& [link, share] : tie) EXPECT_EQ(share, 1u);
  for (const auto& [link, share] : shares_of(*paths, NodeId(0), NodeId(5))) EXPECT_EQ(share, 2u);
}

TEST(WalkedPaths, GoWhereThePolicyGoes) {
  check_one_way(*network("fattree:k=3,levels=3"), "dest-down");
  check_one_way(*network("xgft:m=4x3,w=1x2"), "dest-down");
  check_one_way(*network("fattree:k=2,levels=3"), "up-down");
  check_one_way(*network("dragonfly:a=4,h=2,p=2"), "up-down");
  check_one_way(*network("hyperx:3x4"), "up-down");
  check_one_way(*network("torus:4x4"), "up-down");
  check_one_way(*odd_graph(9, 3), "up-down");
  // One path although packets may overtake one another in several VCs.
  check_one_way(*network("dragonfly:a=4,h=2,p=2"), "minimal");
  check_one_way(*network("hyperx:3x4"), "minimal");
  check_one_way(*network("slimfly:q=5"), "shortest");
  check_one_way(*odd_graph(9, 3), "shortest");
}

TEST(WalkedPaths, AroundABrokenCable) {
  auto t = *network("torus:4x4");
  const std::vector<LinkId> broken = {t.graph.link(RouterId(5), 0), t.graph.link(RouterId(9), 2)};
  t.graph = Graph::with_down(std::move(t.graph), broken);
  check_one_way(t, "up-down");
}

TEST(SpreadPaths, ConserveWhatTheyCarry) {
  const std::pair<std::shared_ptr<const Topology>, const char*> cases[] = {
      {network("torus:5x4"), "min-adaptive"},
      {network("mesh:4x3x2"), "min-adaptive"},
      {network("torus:2x4,p=2"), "min-adaptive"},
      {network("fattree:k=3,levels=2"), "adaptive-up"},
      {network("xgft:m=3x4,w=1x3"), "adaptive-up"},
      {odd_graph(11, 5), "shortest"}};
  for (const auto& [t, routing] : cases) {
    SCOPED_TRACE(t->name);
    const auto paths = make_paths(*t, routing);
    ASSERT_TRUE(paths) << paths.error().text();
    for_all_pairs(*t, [&, &net = *t](NodeId a, NodeId b) {
      if ((*paths)->whole() > 1) check_spread(net, **paths, a, b);
      check_pour(net, **paths, a, b);
    });
  }
}

TEST(SpreadPaths, InEqualParts) {
  const auto t = network("mesh:3x3");
  const auto paths = ways_on(*t, "min-adaptive");
  const std::uint32_t whole = paths->whole();
  const Shares shares = shares_of(*paths, NodeId(0), NodeId(8));
  EXPECT_EQ(shares.at(t->graph.link(RouterId(0), 0).index), whole / 2);
  EXPECT_EQ(shares.at(t->graph.link(RouterId(0), 2).index), whole / 2);
  EXPECT_EQ(shares.at(t->graph.link(RouterId(1), 0).index), whole / 4);
  EXPECT_EQ(shares.at(t->graph.link(RouterId(5), 2).index), whole / 2);
}

TEST(SpreadPaths, AroundABrokenCableAndWithoutAWay) {
  for (const bool apart : {false, true}) {
    auto t = *network("torus:4x4");
    std::vector<LinkId> broken = {t.graph.link(RouterId(5), 0)};
    if (apart)
      for (int port = 1; port < 4; ++port) broken.push_back(t.graph.link(RouterId(5), port));
    t.graph = Graph::with_down(std::move(t.graph), broken);
    const auto adaptive = ways_on(t, "min-adaptive");
    for_all_pairs(t, [&](NodeId a, NodeId b) { check_spread(t, *adaptive, a, b); });
    EXPECT_EQ(adaptive->hops(NodeId(5), NodeId(6)), apart ? no_way_hops : 3u);
    // Dimension order goes round nothing.
    EXPECT_EQ(ways_on(t, "dor")->hops(NodeId(5), NodeId(6)), no_way_hops);
    EXPECT_EQ(ways_on(t, "dor")->hops(NodeId(6), NodeId(7)), 1u);
  }
}

TEST(WalkedPaths, NoWay) {
  auto t = *network("mesh:4");
  const LinkId broken = t.graph.link(RouterId(1), 0);
  t.graph = Graph::with_down(std::move(t.graph), std::vector{broken});
  const auto paths = ways_on(t, "dor:up");
  EXPECT_EQ(paths->hops(NodeId(0), NodeId(3)), no_way_hops);
  EXPECT_TRUE(paths->between(NodeId(0), NodeId(3)).empty());
  EXPECT_EQ(paths->hops(NodeId(0), NodeId(1)), 1u);
  EXPECT_EQ(paths->hops(NodeId(3), NodeId(3)), 0u);
}

TEST(MakeWays, WordsAndErrors) {
  const auto torus = network("torus:4x4");
  EXPECT_EQ(describe_paths(*torus, "dor:up"), "one way");
  EXPECT_EQ(describe_paths(*torus, "dor-around"), describe_paths(*torus, "dor"));
  Topology broken = *torus;
  const LinkId cable[] = {broken.graph.link(RouterId(0), 0)};
  broken.graph = Graph::with_down(std::move(broken.graph), cable);
  EXPECT_EQ(describe_paths(broken, "dor-around"), "one way");
  EXPECT_EQ(describe_paths(*torus, "dor"), "one way, half-way round a ring both");
  EXPECT_EQ(describe_paths(*network("mesh:4x4"), "dor"), "one way");
  EXPECT_EQ(describe_paths(*network("torus:5x3"), "dor"), "one way");
  EXPECT_EQ(describe_paths(*torus, "min-adaptive"), "spread evenly over shortest ways");
  EXPECT_EQ(describe_paths(*torus, "up-down"), "one way");
  const auto tree = network("fattree:k=2,levels=2");
  EXPECT_EQ(describe_paths(*tree, "dest-down"), "one way");
  EXPECT_EQ(describe_paths(*tree, "adaptive-up"), "spread evenly over shortest ways");
  EXPECT_EQ(describe_paths(*tree, "nonsense"), "");
  EXPECT_EQ(default_judging(*torus), "dor:up");
  EXPECT_EQ(default_judging(*tree), default_routing(*tree));
  EXPECT_FALSE(make_paths(*torus, "dorr"));
  EXPECT_FALSE(make_paths(*tree, "dor:up"));
}

}  // namespace
}  // namespace weft::map
