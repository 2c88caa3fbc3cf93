// SPDX-License-Identifier: Apache-2.0
// Halves of a group, maps by bisection, rows of slots and seats: what is made at once.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/study/map/bisect.hpp>
#include <weft/study/map/candidates.hpp>
#include <weft/study/map/curves.hpp>
#include <weft/study/map/halve.hpp>
#include <weft/study/map/judge.hpp>
#include <weft/study/map/overflow.hpp>
#include <weft/study/map/scotch.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

using Edges = std::vector<std::tuple<std::uint32_t, std::uint32_t, double>>;

Group group_of(std::uint32_t n, const Edges& edges) {
  Group group;
  group.first.push_back(0);
  for (std::uint32_t v = 0; v < n; ++v) {
    for (const auto& [a, b, weight] : edges) {
      if (a != v && b != v) continue;
      group.peer.push_back(a == v ? b : a);
      group.weight.push_back(weight);
    }
    group.first.push_back(static_cast<std::uint32_t>(group.peer.size()));
  }
  group.pull.assign(n, 0);
  return group;
}

Group random_group(std::uint32_t n, Rng& rng) {
  Edges edges;
  for (std::uint32_t i = 0; i < 2 * n; ++i) {
    const auto a = static_cast<std::uint32_t>(rng.below(n));
    const auto b = static_cast<std::uint32_t>(rng.below(n));
    if (a != b) edges.emplace_back(a, b, static_cast<double>(1 + rng.below(9)));
  }
  Group group = group_of(n, edges);
  for (double& p : group.pull) p = static_cast<double>(rng.below(7)) - 3;
  return group;
}

std::uint32_t first_of(const std::vector<std::uint8_t>& side) {
  return static_cast<std::uint32_t>(std::count(side.begin(), side.end(), 0));
}

TEST(Halve, SizesAreExact) {
  Rng rng(2);
  for (const std::uint32_t n : {1u, 2u, 3u, 7u, 8u, 9u, 31u, 100u}) {
    const Group group = random_group(n, rng);
    for (const std::uint32_t wanted : {0u, 1u, n / 2, n - 1, n}) {
      if (wanted > n) continue;
      const auto side = halve(group, wanted, 1);
      ASSERT_EQ(side.size(), n);
      EXPECT_EQ(first_of(side), wanted);
      EXPECT_EQ(halve(group, wanted, 1), side);
    }
  }
}

TEST(Halve, NeverWorseThanByNumber) {
  Rng rng(3);
  for (int i = 0; i < 30; ++i) {
    const auto n = static_cast<std::uint32_t>(10 + rng.below(60));
    const Group group = random_group(n, rng);
    std::vector<std::uint8_t> by_number(n, 1);
    std::fill_n(by_number.begin(), n / 2, std::uint8_t{0});
    EXPECT_LE(cost(group, halve(group, n / 2, 1)), cost(group, by_number));
  }
}

TEST(Halve, PullsAreFollowed) {
  for (const std::uint32_t n : {6u, 40u}) {
    Group group = group_of(n, {});
    for (std::uint32_t v = 0; v < n; ++v) group.pull[v] = v % 2 == 0 ? -1.0 : 2.0;
    const auto side = halve(group, n / 2, 1);
    for (std::uint32_t v = 0; v < n; ++v) EXPECT_EQ(side[v], v % 2 == 0 ? 1 : 0);
    EXPECT_EQ(cost(group, side), 0);
  }
}

// Two rings with a weak tie, their members mixed: the tie is cut.
TEST(Halve, WeakTiesAreCut) {
  Edges edges;
  constexpr std::uint32_t n = 32;
  for (std::uint32_t v = 0; v < n; ++v) edges.emplace_back(v, (v + 2) % n, 10);
  edges.emplace_back(4, 7, 1);
  const Group group = group_of(n, edges);
  EXPECT_EQ(cost(group, halve(group, n / 2, 1)), 1);
}

TEST(Halve, CostByHand) {
  Group group = group_of(3, {{0, 1, 5}, {1, 2, 7}});
  group.pull = {2, -3, 0};
  EXPECT_EQ(cost(group, {0, 0, 1}), 7 + 3);
  EXPECT_EQ(cost(group, {1, 1, 1}), 2);
  EXPECT_EQ(cost(group, {0, 1, 1}), 5);
}

// Problems of every kind, with places that are left out, shared or taken.
std::vector<Problem> problems() {
  std::vector<Problem> made;
  Rng rng(9);
  for (const char* net : {"torus:4x4x4", "torus:5x3", "mesh:7x3", "torus:3x3,p=2", "hyperx:4x3",
                          "fattree:k=3,levels=2", "dragonfly:a=3,h=1,p=2", "graph"}) {
    const auto topology = net == std::string("graph") ? odd_graph(9, 2) : network(net);
    const std::uint32_t nodes = topology->graph.node_count();
    for (const bool some : {false, true}) {
      Request request;
      request.slots_per_node = some ? 2 : 1;
      if (some) request.forbidden = {NodeId(1), NodeId(nodes - 2)};
      if (some) request.fixed = {0, anywhere, nodes - 1, nodes - 1};
      const std::uint32_t ranks = some ? nodes + 1 : nodes;
      made.push_back(make_problem(topology, ranks, random_flows(ranks, 3 * ranks, rng), request));
    }
  }
  return made;
}

TEST(Bisect, MapsOfEveryKindOfProblem) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.topology().name);
    for (const char* text : {"paper", "hops", "hop-bytes"}) {
      for (const bool last : {false, true}) {
        const BisectOptions options{1, last, nullptr};
        const RankMap map = bisect(problem, objective_of(text), options);
        EXPECT_TRUE(problem.is_map(map));
        EXPECT_EQ(bisect(problem, objective_of(text), options), map);
      }
    }
  }
}

TEST(Bisect, StoppedItIsStillAMap) {
  const std::atomic<bool> stop = true;
  for (const Problem& problem : problems())
    EXPECT_TRUE(problem.is_map(bisect(problem, {}, {1, false, &stop})));
}

TEST(Bisect, BringsTogetherWhoTalks) {
  Rng rng(1);
  const auto names = shuffled(256, rng);
  const Problem problem =
      make_problem(network("torus:16x16"), 256, stencil({{16, 16}, true}, names));
  const auto paths = paths_of(problem);
  const Objective o = objective_of("hop-bytes");
  const double best = 4 * 256 * 1000.0;
  EXPECT_LT(judge(problem, bisect(problem, o, {}), o, *paths).value, 2 * best);
  EXPECT_GT(judge(problem, problem.in_order(), o, *paths).value, 6 * best);
}

TEST(Curves, StandOnEverySlotOnce) {
  for (const Problem& problem : problems()) {
    for (auto row : {snake(problem), blocks(problem)}) {
      std::sort(row.begin(), row.end());
      std::vector<std::uint32_t> all(problem.slots());
      std::iota(all.begin(), all.end(), 0u);
      EXPECT_EQ(row, all) << problem.topology().name;
    }
  }
}

TEST(Curves, SnakesGoToNeighbours) {
  for (const char* net : {"mesh:5", "mesh:4x3", "torus:3x4x5", "mesh:2x3x3x2", "torus:5x3,p=2"}) {
    const Problem problem = make_problem(network(net), 1, {});
    const auto row = snake(problem);
    for (std::size_t i = 1; i < row.size(); ++i) {
      const Topology& t = problem.topology();
      EXPECT_LE(distance(t, t.graph.router_of(problem.node(row[i - 1])),
                         t.graph.router_of(problem.node(row[i]))),
                1)
          << net;
    }
  }
}

// On a square of 2^k, each quarter of the row is a square.
TEST(Curves, BlocksAreBoxes) {
  const Problem problem = make_problem(network("mesh:8x8"), 1, {});
  const auto row = blocks(problem);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    std::uint32_t low_x = 8, high_x = 0, low_y = 8, high_y = 0;
    for (std::size_t i = 16 * quarter; i < 16 * quarter + 16; ++i) {
      low_x = std::min(low_x, row[i] % 8);
      high_x = std::max(high_x, row[i] % 8);
      low_y = std::min(low_y, row[i] / 8);
      high_y = std::max(high_y, row[i] / 8);
    }
    EXPECT_EQ(high_x - low_x, 3u);
    EXPECT_EQ(high_y - low_y, 3u);
  }
}

TEST(Seat, WishesAreGranted) {
  const Problem problem = make_problem(network("mesh:6"), 4, {});
  const RankMap map = seat(problem, {RouterId(5), RouterId(0), RouterId(3), RouterId(2)});
  EXPECT_TRUE(problem.is_map(map));
  EXPECT_EQ(problem.to_nodes(map), (std::vector<std::uint32_t>{5, 0, 3, 2}));
}

TEST(Seat, TheNearestThatHasRoom) {
  Request request;
  request.forbidden = {NodeId(1)};
  request.fixed = {anywhere, anywhere, anywhere, 2};
  const Problem problem = make_problem(network("mesh:6"), 4, {}, request);
  const RankMap map = seat(problem, {RouterId(2), RouterId(5), RouterId(5), RouterId(2)});
  EXPECT_TRUE(problem.is_map(map));
  EXPECT_EQ(problem.to_nodes(map), (std::vector<std::uint32_t>{3, 5, 4, 2}));
}

TEST(Seat, AllWantTheSame) {
  for (const Problem& problem : problems()) {
    const std::vector<RouterId> wanted(problem.ranks(), RouterId(0));
    EXPECT_TRUE(problem.is_map(seat(problem, wanted))) << problem.topology().name;
  }
}

TEST(Scotch, MapsOfEveryKindOfProblem) {
  if (!has_scotch()) GTEST_SKIP() << "Scotch is not there";
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.topology().name);
    const auto map = scotch_map(problem);
    ASSERT_TRUE(map) << map.error().text();
    EXPECT_TRUE(problem.is_map(*map));
    EXPECT_EQ(*scotch_map(problem), *map);
  }
}

// Pairs that talk, as many as there are places left at the end of a row: each pair side by side.
TEST(Scotch, KnowsWhichNodesAreLeft) {
  if (!has_scotch()) GTEST_SKIP() << "Scotch is not there";
  Request request;
  for (std::uint32_t n = 0; n < 8; ++n) request.forbidden.emplace_back(n);
  const Problem problem =
      make_problem(network("mesh:12"), 4, {{0, 2, 100, 1}, {1, 3, 100, 1}}, request);
  const auto map = scotch_map(problem);
  ASSERT_TRUE(map) << map.error().text();
  const auto paths = paths_of(problem);
  EXPECT_EQ(judge(problem, *map, objective_of("hops"), *paths).value, 2);
}

TEST(Candidates, AreMapsAndIdentityIsFirst) {
  for (const Problem& problem : problems()) {
    const auto made = make_candidates(problem, {}, {as_given(problem)}, {}, nullptr);
    ASSERT_GE(made.size(), 5u);
    EXPECT_EQ(made[0].name, "identity");
    EXPECT_EQ(made[0].map, problem.in_order());
    for (const Candidate& c : made) EXPECT_TRUE(problem.is_map(c.map)) << c.name;
    const std::atomic<bool> stop = true;
    EXPECT_FALSE(make_candidates(problem, {}, {as_given(problem)}, {}, &stop).empty());
  }
}

}  // namespace
}  // namespace weft::map
