// SPDX-License-Identifier: Apache-2.0
// Closed forms against the slow and obvious: all pairs, all halves.
#include "weft/network/topo/facts.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/network/topo/family.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/network/topo/partition.hpp>
#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

Topology make(std::string_view spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << spec << ": " << made.error().text();
  return *std::move(made);
}

// All halves in the order of a Gray code: each differs from the last by one router.
std::uint64_t brute_bisection(const Graph& g) {
  const std::uint32_t routers = g.router_count();
  EXPECT_LE(routers, 21u);
  const auto tolerance = static_cast<std::int64_t>(detail::unavoidable_difference(g));
  std::int64_t difference = g.node_count();  // Nodes outside less nodes inside.
  std::int64_t cut = 0;
  std::int64_t best = g.cable_count();
  std::uint32_t inside = 0;
  // The last router stays outside: the other half of the cases is the mirror of this one.
  for (std::uint32_t step = 1; step < (1u << (routers - 1)); ++step) {
    const auto r = static_cast<std::uint32_t>(std::countr_zero(step));
    const bool enters = (inside >> r & 1u) == 0;
    const auto nodes = static_cast<std::int64_t>(g.nodes_at(RouterId(r)).size());
    difference += enters ? -2 * nodes : 2 * nodes;
    for (const Port& p : g.ports(RouterId(r)))
      if (p.usable()) cut += ((inside >> p.peer.index & 1u) != 0) == enters ? -1 : 1;
    inside ^= 1u << r;
    if (std::abs(difference) <= tolerance) best = std::min(best, cut);
  }
  return static_cast<std::uint64_t>(best);
}

DistanceFacts brute_distance(const Graph& g) {
  DistanceFacts made;
  double total = 0;
  for (std::uint32_t a = 0; a < g.node_count(); ++a) {
    const auto away = distances_from(g, g.router_of(NodeId(a)));
    for (std::uint32_t b = 0; b < g.node_count(); ++b) {
      if (a == b) continue;
      const int d = away[g.router_of(NodeId(b)).index];
      total += d;
      made.diameter = std::max(made.diameter, d);
    }
  }
  made.average = total / (g.node_count() * (g.node_count() - 1.0));
  return made;
}

const char* const tiny_networks[] = {
    "torus:3x3",
    "torus:4x4",
    "torus:3x4",
    "torus:5x3",
    "torus:3x5,p=2",
    "torus:2x3x3",
    "torus:2x2x3",
    "torus:2x5",
    "torus:4x2x2",
    "mesh:3x3",
    "mesh:4x4",
    "mesh:3x4",
    "mesh:5x3",
    "mesh:3x3x2",
    "mesh:7",
    "mesh:2x4x2",
    "cube:3x4,wrap=10",
    "cube:3x4,wrap=01",
    "cube:4x4,wrap=10",
    "cube:5x3,wrap=10",
    "cube:3x5,wrap=10",
    "cube:3x3x2,wrap=010",
    "ring:7",
    "ring:8",
    "ring:3",
    "hypercube:4",
    "hypercube:1",
    "hyperx:3x3",
    "hyperx:4x4",
    "hyperx:3x4",
    "hyperx:2x3x3",
    "hyperx:5x3",
    "hyperx:2x2x2x2",
    "hyperx:6x3",
    "hyperx:9x2",
    "complete:7",
    "complete:8",
    "fattree:k=2,levels=2",
    "fattree:k=3,levels=2",
    "fattree:k=4,levels=2",
    "fattree:k=2,levels=3",
    "fattree:radix=4,levels=3",
    "fattree:k=4,levels=2,taper=2",
    "fattree:radix=6,levels=2",
    "fattree:radix=8,levels=2,taper=2",
    "fattree:radix=4,levels=3,taper=2",
    "fattree:k=5,levels=1",
    "xgft:m=2x3x2,w=1x1x4",
    "xgft:m=2x3x2,w=1x2x2",
    "xgft:m=1x2x4,w=1x2x1",
    "xgft:m=2x2x4,w=1x1x2",
    "xgft:m=3x4x2,w=1x2x1",
    "xgft:m=2x5,w=1x3",
    "xgft:m=1x2x2x2,w=1x1x1x2",
    "xgft:m=1x3x2,w=1x3x2",
    "xgft:m=1x3x4,w=1x1x2",
    "xgft:m=2x2x3,w=1x2x2",
    "dragonfly:a=2,h=2,p=1,g=5",
    "dragonfly:a=4,h=1,p=1,g=5",
    "dragonfly:a=4,h=1,p=2,g=4",
    "dragonfly:a=3,h=2,p=1,g=7",
    "dragonfly:a=4,h=2,p=1,g=5",
    "dragonfly:a=2,h=3,p=1,g=6",
};

class TinyNetwork : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Facts, TinyNetwork, testing::ValuesIn(tiny_networks));

TEST_P(TinyNetwork, BisectionIsThatOfAllHalves) {
  const Topology t = make(GetParam());
  const Facts facts = find_facts(t);
  ASSERT_TRUE(facts.bisection);
  const std::uint64_t truth = brute_bisection(t.graph);
  EXPECT_EQ(facts.bisection->cables, truth);
  // The search must find as much on networks this small.
  EXPECT_EQ(detail::search_bisection(t.graph), truth);
}

TEST_P(TinyNetwork, DistancesAreThoseOfAllPairs) {
  const Topology t = make(GetParam());
  const Facts facts = find_facts(t);
  const DistanceFacts truth = brute_distance(t.graph);
  ASSERT_TRUE(facts.distance);
  EXPECT_EQ(facts.distance->diameter, truth.diameter);
  EXPECT_NEAR(facts.distance->average, truth.average, 1e-9);
  EXPECT_EQ(facts.distance->ground, Ground::exact);
}

TEST(Facts, CountsWhatIsThere) {
  const Facts f = find_facts(make("mesh:3x2,p=2"));
  EXPECT_EQ(f.nodes, 12u);
  EXPECT_EQ(f.routers, 6u);
  EXPECT_EQ(f.cables, 7u);
  EXPECT_EQ(f.classes[0].cables, 4u);
  EXPECT_EQ(f.classes[1].cables, 3u);
  EXPECT_EQ(f.network_ports_min, 2);
  EXPECT_EQ(f.network_ports_max, 3);
  EXPECT_EQ(f.nodes_min, 2);
}

TEST(Facts, LargeOnesHaveTheirClosedForms) {
  const Facts torus = find_facts(make("torus:64x32x32"));
  EXPECT_EQ(torus.bisection->cables, 2u * 32 * 32);
  EXPECT_EQ(torus.distance->diameter, 64);
  // Mean over pairs of different nodes: (16 + 8 + 8) * N / (N - 1).
  EXPECT_NEAR(torus.distance->average, 32.0 * 65536 / 65535, 1e-9);
  const Facts tree = find_facts(make("fattree:radix=36,levels=3"));
  EXPECT_EQ(tree.bisection->cables, 11664u / 2);
  EXPECT_EQ(tree.distance->diameter, 4);
  const Facts tapered = find_facts(make("fattree:radix=36,levels=3,taper=2"));
  EXPECT_EQ(tapered.bisection->cables, 11664u / 4);
  const Facts tofu = find_facts(make("tofu:8x8x8"));
  EXPECT_EQ(tofu.bisection->cables, 2u * 8 * 8 * 12);
  EXPECT_EQ(tofu.bisection->ground, Ground::exact);
}

TEST(Facts, BrokenCablesCount) {
  Topology t = make("torus:4x4");
  const LinkId broken[] = {t.graph.link(RouterId(0), 0)};
  t.graph = Graph::with_down(std::move(t.graph), broken);
  const Facts f = find_facts(t);
  EXPECT_EQ(f.cables, 32u);
  EXPECT_EQ(f.cables_down, 1u);
  EXPECT_EQ(f.names_down, std::vector<std::string>{"(0,0)-(1,0)"});
  Topology intact = t;
  intact.graph = Graph::with_all_up(std::move(intact.graph));
  EXPECT_TRUE(intact.graph.all_up());
  EXPECT_EQ(find_facts(intact).distance->average, find_facts(make("torus:4x4")).distance->average);
  EXPECT_EQ(f.bisection->cables, brute_bisection(t.graph));
  EXPECT_EQ(f.bisection->ground, Ground::upper_bound);
  EXPECT_NEAR(f.distance->average, brute_distance(t.graph).average, 1e-9);
}

TEST(Facts, FewCablesAreNamedAndManyCounted) {
  EXPECT_EQ(list_cables({"a-b"}), "1: a-b");
  EXPECT_EQ(list_cables({"a-b", "b-c"}), "2: a-b, b-c");
  EXPECT_EQ(list_cables({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}),
            "10: 1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
}

TEST(Facts, SearchIsRightOnSmallRandomGraphs) {
  const Rng seed(7);
  for (std::uint64_t i = 0; i < 40; ++i) {
    Rng rng = seed.stream("graph", i);
    const auto routers = static_cast<std::uint32_t>(4 + rng.below(9));
    std::string text = "weft-graph 1\n";
    for (std::uint32_t r = 0; r < routers; ++r) {
      text += "router r" + std::to_string(r) + "\n";
      for (std::uint64_t n = r == 0 ? 0 : rng.below(4); n < 3; ++n)
        text += "node n" + std::to_string(r) + "_" + std::to_string(n) + " r" + std::to_string(r) +
                "\n";
      if (r > 0) text += "link r" + std::to_string(r) + " r" + std::to_string(rng.below(r)) + "\n";
    }
    for (std::uint64_t extra = rng.below(2 * routers); extra > 0; --extra) {
      const auto a = rng.below(routers);
      const auto b = rng.below(routers);
      if (a != b) text += "link r" + std::to_string(a) + " r" + std::to_string(b) + "\n";
    }
    const auto t = read_graph_text(text, "random");
    ASSERT_TRUE(t) << t.error().text();
    EXPECT_EQ(detail::search_bisection(t->graph), brute_bisection(t->graph)) << text;
    const Facts facts = find_facts(*t);
    EXPECT_NEAR(facts.distance->average, brute_distance(t->graph).average, 1e-9);
  }
}

TEST(Facts, BigIrregularOnesAreSampled) {
  Topology t = make("torus:18x16x16");
  t.shape = plain_shape();
  const Facts f = find_facts(t);
  EXPECT_EQ(f.distance->ground, Ground::sample);
  EXPECT_EQ(f.distance->sources, 256u);
  EXPECT_EQ(f.distance->diameter, 25);  // A torus looks the same from everywhere.
  EXPECT_NEAR(f.distance->average, 12.5 * 4608 / 4607, 1e-9);
  EXPECT_GE(f.bisection->cables, 512u);
  EXPECT_EQ(find_facts(t).bisection->cables, f.bisection->cables);
}

TEST(Validate, NamesAPairThatCannotTalk) {
  const auto t = read_graph_text("weft-graph 1\nrouter a\nrouter b\nnode x a\nnode y b\n", "two");
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(validate(*t).error().message(), "node 'y' cannot be reached from node 'x' in two");
  EXPECT_EQ(validate(*t).error().broken(), Broken::run);
  EXPECT_FALSE(find_facts(*t).distance);
  const auto empty = read_graph_text("weft-graph 1\nrouter a\n", "none");
  EXPECT_EQ(validate(*empty).error().message(), "none has no nodes");
  EXPECT_TRUE(validate(make("ring:4")));
}

}  // namespace
}  // namespace weft
