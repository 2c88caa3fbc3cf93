// SPDX-License-Identifier: Apache-2.0
#include "weft/network/part/part.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/network/topo/kinds.hpp>

namespace weft {
namespace {

using Weights = std::vector<std::uint32_t>;

Topology make(std::string_view spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << spec << ": " << made.error().text();
  return *std::move(made);
}

// The same graph without its shape.
Topology irregular(std::string_view spec) {
  auto made = read_graph_text(write_graph_text(make(spec)), "test.graph");
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

Topology with_broken_cables(std::string_view spec, std::uint32_t every) {
  Topology made = make(spec);
  std::vector<LinkId> broken;
  for (std::uint32_t l = 0; l < made.graph.link_count(); l += every)
    if (made.graph.port(LinkId(l)).connected()) broken.push_back(LinkId(l));
  made.graph = Graph::with_down(std::move(made.graph), broken);
  return made;
}

std::vector<Topology> networks() {
  std::vector<Topology> made;
  for (const TopologyKind& kind : topology_kinds())
    if (!kind.example.empty()) made.push_back(make(kind.example));
  for (const char* spec :
       {"torus:8x8", "torus:5x6x7,p=2", "mesh:13x11", "mesh:70", "hypercube:7", "cube:9x8,wrap=10",
        "tofu:2x3x2", "fattree:radix=8,levels=3", "fattree:k=4,levels=3,taper=2",
        "fattree:k=2,levels=6", "xgft:m=3x1x4,w=1x5x2", "xgft:m=16x5,w=1x1",
        "dragonfly:a=6,h=3,p=3", "hyperx:6x5x4", "complete:70"})
    made.push_back(make(spec));
  made.push_back(irregular("dragonfly:a=4,h=2,p=2"));
  made.push_back(with_broken_cables("torus:8x9", 5));
  made.push_back(with_broken_cables("mesh:40", 4));  // Falls apart.
  return made;
}

std::vector<Cut> cuts_for(const Topology& topology) {
  std::vector<Cut> made{Cut::automatic, Cut::ranges};
  if (has_metis()) made.push_back(Cut::metis);
  if (!topology.shape->axes().empty()) made.push_back(Cut::blocks);
  if (topology.shape->tree() != nullptr) made.push_back(Cut::subtrees);
  return made;
}

Parts cut(const Topology& topology, int parts, Cut how, const Weights& weight = {}) {
  auto made = partition(topology, {parts, how, weight});
  EXPECT_TRUE(made) << topology.name << ": " << made.error().text();
  return made ? *std::move(made) : Parts{{}, {0}};
}

std::uint64_t links_cut(const Topology& topology, int parts, Cut how, const Weights& weight = {}) {
  return examine(topology, cut(topology, parts, how, weight), weight).links_cut;
}

Weights uneven_weights(const Topology& topology, std::uint32_t below, Rng rng) {
  Weights made(topology.graph.router_count());
  for (std::uint32_t& w : made) w = static_cast<std::uint32_t>(rng.below(below));
  return made;
}

void expect_whole(const Topology& topology, const Parts& parts) {
  ASSERT_EQ(parts.first.front(), 0u);
  ASSERT_EQ(parts.first.back(), topology.graph.router_count());
  ASSERT_EQ(parts.order.size(), topology.graph.router_count());
  for (int p = 0; p < parts.count(); ++p) {
    const std::uint32_t first = parts.first[static_cast<std::size_t>(p)];
    const std::uint32_t end = parts.first[static_cast<std::size_t>(p) + 1];
    EXPECT_LT(first, end) << "part " << p << " is empty";
    for (std::uint32_t i = first + 1; i < end; ++i) EXPECT_LT(parts.order[i - 1], parts.order[i]);
  }
  const std::set<std::uint32_t> all(parts.order.begin(), parts.order.end());
  EXPECT_EQ(all.size(), parts.order.size());
  EXPECT_EQ(*all.rbegin(), parts.order.size() - 1);
}

// No part is heavier than the mean by more than a router, or what METIS is allowed.
void expect_balanced(const Topology& topology, const Parts& parts, const Weights& weight) {
  const PartFacts facts = examine(topology, parts, weight);
  const std::uint64_t mean = facts.total / static_cast<std::uint64_t>(parts.count()) + 1;
  const Weights own = weight.empty() ? node_weights(topology) : weight;
  const std::uint64_t router = *std::max_element(own.begin(), own.end());
  EXPECT_LE(facts.heaviest, mean + std::max(router, mean / 32));
  EXPECT_GE(facts.heaviest * static_cast<std::uint64_t>(parts.count()), facts.total);
}

const std::vector<int> some = {2, 3, 5, 8, 9, 64};

void expect_sound(const Topology& topology, const Weights& weight, const std::vector<int>& counts) {
  for (const int count : counts) {
    if (static_cast<std::uint32_t>(count) > topology.graph.router_count()) continue;
    for (const Cut how : cuts_for(topology)) {
      SCOPED_TRACE(topology.name + " in " + std::to_string(count) + " by " +
                   std::string(to_text(how)));
      const Parts parts = cut(topology, count, how, weight);
      ASSERT_EQ(parts.count(), count);
      expect_whole(topology, parts);
      expect_balanced(topology, parts, weight);
    }
  }
}

TEST(Parts, AreWholeAndBalancedOnEveryNetwork) {
  for (const Topology& topology : networks())
    expect_sound(topology, {},
                 {1, 2, 3, 4, 5, 6, 7, 8, 9, 64, static_cast<int>(topology.graph.router_count())});
}

TEST(Parts, AreTheSameEachTime) {
  for (const Topology& topology : networks())
    for (const Cut how : cuts_for(topology)) {
      const int count = static_cast<int>(std::min(7u, topology.graph.router_count()));
      const Parts once = cut(topology, count, how);
      const Parts again = cut(topology, count, how);
      EXPECT_EQ(once.order, again.order) << topology.name;
      EXPECT_EQ(once.first, again.first) << topology.name;
    }
}

TEST(Parts, AreWholeAndBalancedUnderUnevenWeights) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  for (const Topology& topology : networks()) {
    expect_sound(topology, uneven_weights(topology, 20, Rng(seed)), some);
    expect_sound(topology, uneven_weights(topology, 0xffffffffu, Rng(seed + 1)), some);
    expect_sound(topology, uneven_weights(topology, 2, Rng(seed + 2)), some);
  }
}

TEST(Parts, OneRouterThatWeighsAll) {
  for (const Topology& topology : networks()) {
    Weights weight(topology.graph.router_count());
    weight[weight.size() / 2] = 1000;
    expect_sound(topology, weight, some);
    weight.assign(weight.size(), 1);
    weight.back() = 1'000'000;
    expect_sound(topology, weight, some);
  }
}

TEST(Parts, WithoutWeightsRoutersAreCounted) {
  const Topology ring = make("ring:12");
  const Weights nothing(12, 0);
  const PartFacts facts = examine(ring, cut(ring, 4, Cut::ranges, nothing), nothing);
  EXPECT_EQ(facts.heaviest, 3u);
  EXPECT_EQ(facts.lightest, 3u);
  EXPECT_EQ(facts.total, 12u);
}

TEST(Parts, OwnersAreTheOtherWayRound) {
  const Topology torus = make("torus:6x6");
  const Parts parts = cut(torus, 5, Cut::blocks);
  const auto owner = owners(parts);
  for (int p = 0; p < parts.count(); ++p)
    for (std::uint32_t i = parts.first[static_cast<std::size_t>(p)];
         i < parts.first[static_cast<std::size_t>(p) + 1]; ++i)
      EXPECT_EQ(owner[parts.order[i]], static_cast<std::uint32_t>(p));
}

TEST(Parts, WeightsOfRouters) {
  const Topology tree = make("fattree:k=4,levels=3");
  const Weights weight = node_weights(tree);
  EXPECT_EQ(weight[0], 4u + 2 * 4);  // A leaf: 4 cables up, 4 nodes.
  EXPECT_EQ(weight[16], 8u);
  EXPECT_EQ(weight[32], 4u);
  // The edge of a mesh weighs what its middle does.
  for (const std::uint32_t w : node_weights(make("mesh:4x4,p=3"))) EXPECT_EQ(w, 4u + 2 * 3);
}

// A link is one direction: a torus of 8x8 is halved by 16 cables.
TEST(Examine, CountsBothDirectionsOfCablesThatAreUp) {
  const Topology torus = make("torus:8x8");
  const PartFacts facts = examine(torus, cut(torus, 2, Cut::blocks), {});
  EXPECT_EQ(facts.links_cut, 32u);
  EXPECT_EQ(facts.links, 256u);
  EXPECT_EQ(facts.heaviest, facts.lightest);
  EXPECT_EQ(facts.total, 64u * 6);

  Topology ring = make("ring:4");
  const Parts halves = cut(ring, 2, Cut::ranges);
  EXPECT_EQ(examine(ring, halves, {}).links_cut, 4u);
  const LinkId broken = ring.graph.link(RouterId(1), Lattice::up_port(0));
  ring.graph = Graph::with_down(std::move(ring.graph), std::vector{broken});
  EXPECT_EQ(examine(ring, halves, {}).links_cut, 2u);
  EXPECT_EQ(examine(ring, halves, {}).links, 6u);
}

TEST(Ranges, AreRunsOfNumbers) {
  const Topology mesh = make("mesh:10");
  const Parts parts = cut(mesh, 4, Cut::ranges);
  EXPECT_TRUE(std::is_sorted(parts.order.begin(), parts.order.end()));
  EXPECT_EQ(parts.first, (Weights{0, 3, 5, 8, 10}));
  // The last router weighs as much as all others.
  EXPECT_EQ(cut(mesh, 2, Cut::ranges, {1, 1, 1, 1, 1, 1, 1, 1, 1, 9}).first, (Weights{0, 9, 10}));
  EXPECT_EQ(cut(mesh, 3, Cut::ranges, {9, 1, 1, 1, 1, 1, 1, 1, 1, 1}).first,
            (Weights{0, 1, 4, 10}));
}

TEST(Blocks, TwoHalvesOfATorusAreSlabs) {
  const Topology torus = make("torus:16x16x16");
  const auto owner = owners(cut(torus, 2, Cut::blocks));
  for (std::uint32_t r = 0; r < owner.size(); ++r)
    EXPECT_EQ(owner[r], coordinates(torus, RouterId(r))[0] < 8 ? 0u : 1u);
}

TEST(Blocks, EightPartsOfATorusAreCubes) {
  const Topology torus = make("torus:16x16x16");
  const auto owner = owners(cut(torus, 8, Cut::blocks));
  std::set<std::vector<int>> seen;
  for (std::uint32_t r = 0; r < owner.size(); ++r) {
    const Coordinates c = coordinates(torus, RouterId(r));
    seen.insert({static_cast<int>(owner[r]), c[0] / 8, c[1] / 8, c[2] / 8});
  }
  EXPECT_EQ(seen.size(), 8u);
}

// Cables cut, worked out by hand: what is best with parts of equal size.
TEST(Blocks, CutTheFewestCables) {
  const struct {
    const char* spec;
    int parts;
    std::uint64_t cables;
  } known[] = {
      {"ring:12", 2, 2},           {"ring:12", 5, 5},       {"mesh:12", 5, 4},
      {"torus:8x8", 2, 16},        {"torus:8x8", 4, 32},    {"torus:8x8", 8, 48},
      {"torus:8x8", 16, 64},       {"torus:12x12", 9, 72},  {"torus:12x12", 3, 36},
      {"torus:32x8", 4, 32},       {"torus:32x8", 8, 64},   {"torus:8x32", 8, 64},
      {"mesh:8x8", 2, 8},          {"mesh:8x8", 4, 16},     {"mesh:9x9", 9, 36},
      {"mesh:12x12", 6, 36},       {"mesh:24x4", 6, 20},    {"torus:16x16x16", 2, 512},
      {"torus:16x16x16", 8, 1536}, {"mesh:8x8x8", 8, 192},  {"hypercube:6", 4, 64},
      {"hypercube:6", 8, 96},      {"torus:4x4,p=3", 2, 8},
  };
  for (const auto& row : known)
    EXPECT_EQ(links_cut(make(row.spec), row.parts, Cut::blocks), 2 * row.cables)
        << row.spec << " in " << row.parts;
}

// The bisection of facts.hpp is a theorem for these.
TEST(Blocks, HalvesMeetTheBisection) {
  for (const char* spec :
       {"torus:4x4", "torus:6x4", "torus:4x6x8", "mesh:4x4", "mesh:6x3", "mesh:2x4x6", "ring:10",
        "hypercube:5", "torus:10x5", "hyperx:4x6", "hyperx:8x3", "complete:8", "tofu:4x2x2"}) {
    const Topology topology = make(spec);
    const auto facts = find_facts(topology);
    ASSERT_TRUE(facts.bisection && facts.bisection->ground == Ground::exact) << spec;
    EXPECT_EQ(links_cut(topology, 2, Cut::blocks), 2 * facts.bisection->cables) << spec;
  }
}

TEST(Blocks, AreNeverWorseThanRanges) {
  for (const Topology& topology : networks()) {
    const std::vector<Cut> cuts = cuts_for(topology);
    if (std::find(cuts.begin(), cuts.end(), Cut::blocks) == cuts.end()) continue;
    for (int parts = 2; parts <= 64; ++parts) {
      if (static_cast<std::uint32_t>(parts) > topology.graph.router_count()) break;
      EXPECT_LE(links_cut(topology, parts, Cut::blocks), links_cut(topology, parts, Cut::ranges))
          << topology.name << " in " << parts;
    }
  }
}

// Every switch above a leaf is where all its leaves are, up to the heads of whole subtrees.
TEST(Subtrees, StayTogether) {
  for (const auto& [spec, parts] : {std::pair{"fattree:k=4,levels=3", 4},
                                    {"fattree:k=4,levels=3", 2},
                                    {"fattree:k=3,levels=4", 3},
                                    {"fattree:radix=8,levels=3", 8},
                                    {"fattree:k=2,levels=6", 2}}) {
    const Topology tree = make(spec);
    const auto owner = owners(cut(tree, parts, Cut::subtrees));
    const int top = tree.shape->tree()->levels();
    Weights at_top(static_cast<std::size_t>(parts));
    for (std::uint32_t r = 0; r < owner.size(); ++r) {
      const int level = coordinates(tree, RouterId(r))[0];
      if (level == top) ++at_top[owner[r]];
      for (const Port& port : tree.graph.ports(RouterId(r)))
        if (level < top && port.peer.index < r) {
          EXPECT_EQ(owner[port.peer.index], owner[r]) << spec << " in " << parts << ": " << r;
        }
    }
    EXPECT_EQ(*std::min_element(at_top.begin(), at_top.end()),
              *std::max_element(at_top.begin(), at_top.end()));
  }
}

// More parts than subtrees at the top: below, 16 subtrees of three levels; above, the switches fall
// into 16 trees. Only the 1024 cables between are cut, but for one in 16.
TEST(Subtrees, TurnTheTreeUpsideDownAboveThem) {
  const Topology tree = make("fattree:k=4,levels=5");
  EXPECT_EQ(links_cut(tree, 16, Cut::subtrees), 2u * (1024 - 64));
}

// Every part has its share of every level, so the guess of what levels cost does not matter.
TEST(Subtrees, SpreadEveryLevel) {
  for (const int parts : {2, 4, 8, 16}) {
    const Topology tree = make("fattree:k=4,levels=3");
    const auto owner = owners(cut(tree, parts, Cut::subtrees));
    std::vector<Weights> count(4, Weights(static_cast<std::size_t>(parts)));
    for (std::uint32_t r = 0; r < owner.size(); ++r)
      ++count[static_cast<std::size_t>(coordinates(tree, RouterId(r))[0])][owner[r]];
    for (int level = 1; level <= 3; ++level)
      for (const std::uint32_t n : count[static_cast<std::size_t>(level)])
        EXPECT_EQ(n, 16u / static_cast<std::uint32_t>(parts));
  }
}

TEST(Metis, FindsWhatIsThere) {
  if (!has_metis()) GTEST_SKIP() << "built without METIS";
  // Two rings of rings, without their shape.
  EXPECT_EQ(links_cut(irregular("torus:8x8"), 2, Cut::metis), 32u);
  EXPECT_EQ(links_cut(irregular("fattree:k=4,levels=3"), 4, Cut::metis), 96u);
}

// METIS draws from rand(); a program that does so too goes on where it was.
TEST(Metis, LeavesRandomNumbersAlone) {
  if (!has_metis()) GTEST_SKIP() << "built without METIS";
  // NOLINTBEGIN(cert-msc50-cpp, cert-msc51-cpp)
  std::srand(7);
  std::rand();
  const int expected = std::rand();
  std::srand(7);
  std::rand();
  (void)cut(make("dragonfly:a=4,h=2,p=2"), 3, Cut::metis);
  EXPECT_EQ(std::rand(), expected);
  // NOLINTEND(cert-msc50-cpp, cert-msc51-cpp)
}

TEST(Automatic, TakesTheCutOfTheFamily) {
  const Topology torus = make("torus:12x12");
  EXPECT_EQ(cut(torus, 9, Cut::automatic).order, cut(torus, 9, Cut::blocks).order);
  const Topology tree = make("fattree:k=4,levels=3");
  EXPECT_EQ(cut(tree, 4, Cut::automatic).order, cut(tree, 4, Cut::subtrees).order);
}

TEST(Requests, ErrorsNameTheRemedy) {
  const auto text = [](const char* spec, const PartRequest& request) {
    const auto made = partition(make(spec), request);
    return made ? std::string("done") : made.error().text();
  };
  EXPECT_EQ(text("torus:2x2", {5, Cut::automatic, {}}),
            "5 workers, but at most 4 for 4 routers (torus:2x2)");
  EXPECT_EQ(text("fattree:k=4,levels=1", {2, Cut::automatic, {}}),
            "2 workers, but at most 1 for 1 router (fattree:k=4,levels=1)");
  EXPECT_EQ(text("torus:2x2", {0, Cut::automatic, {}}), "there must be at least 1 worker");
  const std::string any = has_metis() ? "metis, ranges" : "ranges";
  EXPECT_EQ(text("fattree:k=2,levels=2", {2, Cut::blocks, {}}),
            "partition 'blocks' is for tori, meshes and HyperX; for fattree:k=2,levels=2 choose "
            "one of: automatic, subtrees, " +
                any);
  EXPECT_EQ(text("torus:4x4", {2, Cut::subtrees, {}}),
            "partition 'subtrees' is for fat trees; for torus:4x4 choose one of: automatic, "
            "blocks, " +
                any);
  if (!has_metis()) {
    EXPECT_EQ(text("torus:4x4", {2, Cut::metis, {}}),
              "partition 'metis': this weft was built without METIS (Debian: libmetis-dev); choose "
              "one of: automatic, blocks, ranges");
  }
}

TEST(Requests, NamesOfCuts) {
  for (const Cut how : {Cut::automatic, Cut::blocks, Cut::subtrees, Cut::metis, Cut::ranges}) {
    const auto parsed = parse_cut(to_text(how));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, how);
    EXPECT_NE(list_cuts().find(to_text(how)), std::string::npos);
  }
  EXPECT_EQ(parse_cut("block").error().text(), "unknown partition 'block'; did you mean 'blocks'?");
  EXPECT_EQ(parse_cut("xyz").error().text(),
            "unknown partition 'xyz'; known: automatic, blocks, subtrees, metis, ranges");
}

}  // namespace
}  // namespace weft
