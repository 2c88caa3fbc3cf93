// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include <weft/base/test_seed.hpp>
#include <weft/study/map/judge.hpp>
#include <weft/study/map/quick_judge.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

const char* const cubes[] = {"torus:4x4x4",      "torus:16x16",         "torus:16x3",
                             "torus:5x7",        "torus:2x3x4x2",       "torus:33",
                             "mesh:6x5",         "mesh:2x2x2",          "torus:4x3,p=2",
                             "cube:6x4,wrap=01", "torus:2x2x2x2x2x2x2", "torus:18x20"};
const char* const objectives[] = {"paper",
                                  "hops",
                                  "hop-bytes",
                                  "link-max",
                                  "link-norm:4",
                                  "link-norm:32",
                                  "mix:hops=0.5,hop-bytes=0.25,link-max=2,link-norm=1"};

// Bytes of a common measure, few enough for sums to fit.
std::vector<Flow> measured_flows(std::uint32_t ranks, Rng& rng) {
  auto flows = random_flows(ranks, 3 * ranks, rng);
  for (Flow& f : flows) f.bytes *= 8;
  return flows;
}

TEST(QuickJudge, EqualsTheJudge) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  for (const char* net : cubes) {
    for (const char* routing : {"dor:up", "dor", "dor:coin"}) {
      SCOPED_TRACE(std::string(net) + " " + routing);
      Request request;
      request.routing = routing;
      request.slots_per_node = rng.below(3) == 0 ? 2 : 1;
      if (rng.below(3) == 0) request.forbidden = {NodeId(1)};
      const auto topology = network(net);
      const std::uint32_t ranks = topology->graph.node_count() - 1;
      const Problem problem = make_problem(topology, ranks, measured_flows(ranks, rng), request);
      ASSERT_TRUE(QuickJudge::fits(problem));
      const auto paths = paths_of(problem);
      for (const char* text : objectives) {
        QuickJudge quick(problem, objective_of(text));
        for (int i = 0; i < 4; ++i) {
          const RankMap map = random_map(problem, rng);
          const double wanted = judge(problem, map, objective_of(text), *paths).value;
          EXPECT_NEAR(quick.value(map, QuickJudge::too_much), wanted, 1e-9 * wanted) << text;
        }
      }
    }
  }
}

TEST(QuickJudge, GivesUpAboveTheLimitOnly) {
  Rng rng(4);
  const auto topology = network("torus:8x8x8");
  std::vector<Flow> flows = random_flows(512, 9000, rng);  // More than between two looks.
  const Problem problem = make_problem(topology, 512, std::move(flows));
  for (const char* text : objectives) {
    QuickJudge quick(problem, objective_of(text));
    for (int i = 0; i < 4; ++i) {
      const RankMap map = random_map(problem, rng);
      const double value = quick.value(map, QuickJudge::too_much);
      EXPECT_EQ(quick.value(map, value), value) << text;
      EXPECT_EQ(quick.value(map, value * 1.5), value) << text;
      EXPECT_EQ(quick.value(map, value * 0.999), QuickJudge::too_much) << text;
      EXPECT_EQ(quick.value(map, 0), QuickJudge::too_much) << text;
    }
  }
}

// Weights that do not fit are rounded up: near, and never below.
TEST(QuickJudge, HugeWeights) {
  Rng rng(6);
  std::vector<Flow> flows;
  for (std::uint32_t r = 0; r < 64; ++r)
    flows.push_back({r, (r * 7 + 3) % 64, (std::uint64_t{1} << 54) - rng.below(1000), 1});
  const Problem problem = make_problem(network("torus:4x4x4"), 64, flows);
  const auto paths = paths_of(problem);
  for (const char* text : objectives) {
    QuickJudge quick(problem, objective_of(text));
    const RankMap map = random_map(problem, rng);
    const double wanted = judge(problem, map, objective_of(text), *paths).value;
    EXPECT_NEAR(quick.value(map, QuickJudge::too_much), wanted, 1e-5 * wanted) << text;
  }
}

TEST(QuickJudge, PatternsOfNothing) {
  for (const std::vector<Flow>& flows : {std::vector<Flow>{}, std::vector<Flow>{{1, 1, 9, 1}}}) {
    const Problem problem = make_problem(network("torus:4x4"), 3, flows);
    const auto paths = paths_of(problem);
    for (const char* text : objectives) {
      QuickJudge quick(problem, objective_of(text));
      EXPECT_EQ(quick.value(problem.in_order(), QuickJudge::too_much),
                judge(problem, problem.in_order(), objective_of(text), *paths).value)
          << text;
    }
  }
}

TEST(QuickJudge, FitsCubesUnderDimensionOrderAlone) {
  const auto fits = [](std::shared_ptr<const Topology> net, const char* routing) {
    Request request;
    request.routing = routing;
    return QuickJudge::fits(make_problem(std::move(net), 2, {}, request));
  };
  EXPECT_TRUE(fits(network("torus:4x4"), "dor"));
  EXPECT_TRUE(fits(network("mesh:4x4"), "dor:up"));
  EXPECT_FALSE(fits(network("torus:4x4"), "min-adaptive"));
  EXPECT_FALSE(fits(network("torus:2x2x2x2x2x2x2x2x2"), "dor"));
  EXPECT_FALSE(fits(network("fattree:k=2,levels=2"), "dest-down"));
  auto broken = *network("torus:4x4");
  broken.graph = Graph::with_down(std::move(broken.graph), std::vector{LinkId(3)});
  EXPECT_FALSE(fits(std::make_shared<const Topology>(std::move(broken)), "dor:up"));
  Request slow;
  slow.link_slowness.assign(8, 2.0);
  EXPECT_FALSE(QuickJudge::fits(make_problem(network("torus:4x4"), 2, {}, slow)));
}

}  // namespace
}  // namespace weft::map
