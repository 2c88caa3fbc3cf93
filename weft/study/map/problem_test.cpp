// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/study/map/problem.hpp>
#include <weft/study/map/test_patterns.hpp>
#include <weft/study/map/test_problem.hpp>

namespace weft::map {
namespace {

Result<Problem> try_make(const std::string& net, std::uint32_t ranks, Request request) {
  return Problem::make(network(net), *TrafficMatrix::make(ranks, {}), std::move(request));
}

Request fixed(std::vector<std::uint32_t> nodes, std::uint32_t per_node = 1) {
  Request request = slots(per_node);
  request.fixed = std::move(nodes);
  return request;
}

std::string error_of(const Result<Problem>& made) {
  return made ? "none" : made.error().text();
}

TEST(Problem, SilentRanksFillTheSlots) {
  const Problem problem = test_problem("torus:3x3", 5, {});
  EXPECT_EQ(problem.ranks(), 5u);
  EXPECT_EQ(problem.slots(), 9u);
  EXPECT_EQ(problem.pairs(), 5u);
  const RankMap map = problem.in_order();
  EXPECT_TRUE(problem.is_map(map));
  for (std::uint32_t r = 0; r < 9; ++r) EXPECT_EQ(map[r], r);
  for (std::uint32_t r = 5; r < 9; ++r) EXPECT_TRUE(problem.talks(r).empty());
  EXPECT_EQ(problem.to_nodes(map).size(), 5u);
}

TEST(Problem, MoreRanksThanSlotsIsAnError) {
  EXPECT_TRUE(try_make("torus:2x2", 4, {}));
  EXPECT_TRUE(try_make("torus:2x2", 8, slots(2)));
  EXPECT_EQ(error_of(try_make("torus:2x2", 5, {})),
            "5 ranks do not fit 4 slots (4 of 4 nodes, 1 each); give more ranks per node or a "
            "larger network");
  EXPECT_EQ(error_of(try_make("torus:2x2", 7, slots(2, {NodeId(3)}))),
            "7 ranks do not fit 6 slots (3 of 4 nodes, 2 each); give more ranks per node or a "
            "larger network");
  EXPECT_FALSE(try_make("mesh:2", 1, slots(1, {NodeId(0), NodeId(1)})));
}

TEST(Problem, SeveralSlotsPerNodeAndForbiddenNodes) {
  const Problem problem = test_problem("torus:2x2", 5, slots(2, {NodeId(1), NodeId(1)}));
  EXPECT_FALSE(problem.whole());
  EXPECT_EQ(problem.slots(), 6u);
  EXPECT_EQ(problem.slots_at(NodeId(0)), 2u);
  EXPECT_EQ(problem.slots_at(NodeId(1)), 0u);
  EXPECT_EQ(problem.first_slot(NodeId(2)), 2u);
  EXPECT_EQ(problem.to_nodes(problem.in_order()), (std::vector<std::uint32_t>{0, 0, 2, 2, 3}));
  EXPECT_TRUE(test_problem("torus:2x2", 5, slots(2)).whole());
}

TEST(Problem, TalksAreSeenFromBothSides) {
  const Problem problem = make_problem(
      network("mesh:4"), 4,
      {{0, 1, 10, 1}, {1, 0, 4, 2}, {2, 0, 7, 1}, {0, 1, 5, 1}, {3, 3, 9, 1}, {1, 2, 0, 1}});
  EXPECT_EQ(problem.pairs(), 4u);
  ASSERT_EQ(problem.talks(0).size(), 2u);
  const Talk& one = problem.talks(0)[0];
  EXPECT_EQ(one.peer, 1u);
  EXPECT_EQ(one.out, 15);
  EXPECT_EQ(one.in, 4);
  EXPECT_EQ(one.directions, 2);
  EXPECT_TRUE(one.sends && one.hears);
  const Talk& two = problem.talks(0)[1];
  EXPECT_EQ(two.in, 7);
  EXPECT_EQ(two.directions, 1);
  EXPECT_TRUE(!two.sends && two.hears);
  EXPECT_EQ(problem.talks(1).size(), 2u);  // A message without bytes is a talk, too.
  EXPECT_TRUE(problem.talks(3).empty());
}

TEST(Problem, EmptyAndSelfOnlyPatterns) {
  for (const std::vector<Flow>& flows : {std::vector<Flow>{}, std::vector<Flow>{{2, 2, 50, 1}}}) {
    const Problem problem = make_problem(network("torus:2x2"), 3, flows);
    EXPECT_EQ(problem.pairs(), 0u);
    for (std::uint32_t r = 0; r < problem.slots(); ++r) EXPECT_TRUE(problem.talks(r).empty());
    EXPECT_TRUE(problem.is_map(problem.in_order()));
  }
  EXPECT_EQ(make_problem(network("torus:2x2"), 0, {}).to_nodes({0, 1, 2, 3}).size(), 0u);
}

TEST(Problem, FixedRanksStandWhereTheyBelong) {
  const Problem problem = test_problem("mesh:4", 7, fixed({3, anywhere, 3, 0}, 2));
  EXPECT_TRUE(problem.any_fixed());
  EXPECT_TRUE(problem.is_fixed(0) && !problem.is_fixed(1) && problem.is_fixed(2));
  const RankMap map = problem.in_order();
  EXPECT_TRUE(problem.is_map(map));
  EXPECT_EQ(problem.to_nodes(map), (std::vector<std::uint32_t>{3, 0, 3, 0, 1, 1, 2}));
  RankMap moved = map;
  std::swap(moved[0], moved[2]);  // Two places of one node.
  EXPECT_TRUE(problem.is_map(moved));
  std::swap(moved[0], moved[1]);
  EXPECT_FALSE(problem.is_map(moved));
}

TEST(Problem, FixedRanksThatDoNotFitAreErrors) {
  EXPECT_EQ(error_of(try_make("mesh:4", 2, fixed({0, anywhere, 1}))),
            "rank 2 is fixed, but there are 2 ranks");
  EXPECT_EQ(error_of(try_make("mesh:4", 3, fixed({1, 2, 1}))),
            "rank 2 is fixed to n1, which has no slot left");
  Request request = fixed({anywhere, 2});
  request.forbidden = {NodeId(2)};
  EXPECT_EQ(error_of(try_make("mesh:4", 2, request)), "rank 1 is fixed to n2, which is forbidden");
  EXPECT_TRUE(try_make("mesh:4", 2, fixed({1, 2, anywhere, anywhere, anywhere, anywhere})));
}

TEST(Problem, IsMapSeesWhatIsNone) {
  const Problem problem = test_problem("mesh:3", 3, {});
  EXPECT_TRUE(problem.is_map({2, 0, 1}));
  EXPECT_FALSE(problem.is_map({2, 0}));
  EXPECT_FALSE(problem.is_map({2, 0, 0}));
  EXPECT_FALSE(problem.is_map({2, 0, 3}));
}

TEST(Problem, NodesBecomeAMapAndBack) {
  Rng rng(3);
  const Problem problem = test_problem("torus:3x4", 17, slots(2, {NodeId(5)}));
  for (int i = 0; i < 50; ++i) {
    const RankMap map = random_map(problem, rng);
    const auto nodes = problem.to_nodes(map);
    const auto again = problem.from_nodes(nodes);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(problem.is_map(*again));
    EXPECT_EQ(problem.to_nodes(*again), nodes);
  }
}

TEST(Problem, NodesThatAreNoMapAreErrors) {
  Request request = fixed({0});
  request.forbidden = {NodeId(2)};
  const Problem problem = test_problem("mesh:4", 3, request);
  const auto error = [&](std::vector<std::uint32_t> nodes) {
    const auto map = problem.from_nodes(nodes);
    return map ? "none" : map.error().text();
  };
  EXPECT_EQ(error({0, 1, 3}), "none");
  EXPECT_EQ(error({0, 2, 3}), "rank 1 is on n2, which is forbidden");
  EXPECT_EQ(error({0, 1, 1}), "rank 2 is one too many on n1, which has 1 slot");
  EXPECT_EQ(error({1, 0, 3}), "rank 0 is on n1, but fixed elsewhere");
}

TEST(Problem, OrderOfRanksAndSlots) {
  const Problem problem = test_problem("mesh:4", 4, fixed({anywhere, 3}));
  const std::vector<std::uint32_t> ranks = {2, 1, 3, 0};
  const std::vector<std::uint32_t> order = {3, 1, 0, 2};
  EXPECT_EQ(problem.in_order(ranks, order), (RankMap{2, 3, 1, 0}));
}

TEST(Problem, SlownessByLinkClass) {
  Request request;
  request.link_slowness = {1, 2.5};
  const auto graph = odd_graph(5, 1);
  const Problem problem = make_problem(graph, 3, {}, request);
  for (std::uint32_t l = 0; l < graph->graph.link_count(); ++l)
    EXPECT_EQ(problem.slowness(LinkId(l)),
              graph->graph.port(LinkId(l)).link_class == 1 ? 2.5 : 1.0);
}

}  // namespace
}  // namespace weft::map
