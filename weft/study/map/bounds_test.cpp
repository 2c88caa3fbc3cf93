// SPDX-License-Identifier: Apache-2.0
// A bound is worth nothing when one map beats it: on small problems all maps are tried.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/study/map/bounds.hpp>
#include <weft/study/map/bounds_parts.hpp>
#include <weft/study/map/judge.hpp>

namespace weft::map {
namespace {

constexpr const char* objective_texts[] = {"paper",
                                           "hops",
                                           "hop-bytes",
                                           "link-max",
                                           "link-norm:2",
                                           "link-norm:16",
                                           "mix:hops=0.5,hop-bytes=1,link-max=2,link-norm=1"};

// A random tree of routers and a few cables more, some of them broken.
Topology random_graph(Rng& rng) {
  Graph::Parts parts;
  const auto routers = static_cast<std::uint32_t>(3 + rng.below(5));
  parts.port_count.assign(routers, 0);
  const auto plug = [&](std::uint32_t a, std::uint32_t b) {
    if (a == b) return;
    parts.cables.push_back({.a = RouterId(a),
                            .a_port = parts.port_count[a]++,
                            .b = RouterId(b),
                            .b_port = parts.port_count[b]++,
                            .link_class = static_cast<std::uint8_t>(rng.below(2)),
                            .up = rng.below(16) != 0});
  };
  for (std::uint32_t r = 1; r < routers; ++r) plug(r, static_cast<std::uint32_t>(rng.below(r)));
  for (std::uint64_t more = rng.below(6); more > 0; --more)
    plug(static_cast<std::uint32_t>(rng.below(routers)),
         static_cast<std::uint32_t>(rng.below(routers)));
  const std::uint64_t nodes = 3 + rng.below(5);
  for (std::uint64_t n = 0; n < nodes; ++n)
    parts.router_of.push_back(RouterId(static_cast<std::uint32_t>(rng.below(routers))));
  parts.link_classes = {"fast", "slow"};
  return {.name = "random", .shape = plain_shape(), .graph = *Graph::make(std::move(parts))};
}

struct Network {
  const char* spec;
  std::vector<std::string> routings;
};

const std::vector<Network>& networks() {
  static const std::vector<std::string> mesh = {"dor:up", "dor", "min-adaptive"};
  static const std::vector<std::string> tree = {"dest-down", "adaptive-up", "up-down"};
  static const std::vector<std::string> other = {"minimal", "shortest", "up-down"};
  static const std::vector<Network> made = {
      {"mesh:2x3", mesh},
      {"mesh:7", mesh},
      {"mesh:2x2,p=2", mesh},
      {"torus:8", mesh},
      {"torus:5", mesh},
      {"torus:4x2", mesh},
      {"torus:3x2", mesh},
      {"torus:3,p=2", mesh},
      {"torus:2x2x2", mesh},
      {"fattree:k=2,levels=2", tree},
      {"fattree:k=2,levels=3", tree},
      {"fattree:radix=4,levels=2", tree},
      {"xgft:m=3x2,w=1x2", tree},
      {"dragonfly:a=2,h=1,p=1", other},
      {"dragonfly:a=1,h=4,p=1", other},
      {"hyperx:3x2", other},
      {"random", {"up-down", "shortest"}},
  };
  return made;
}

// Builds the network, sometimes with a broken cable.
Topology build(const Network& network, Rng& rng) {
  if (std::string_view(network.spec) == "random") return random_graph(rng);
  Topology made = *make_topology(network.spec);
  if (rng.below(6) != 0) return made;
  LinkId broken(static_cast<std::uint32_t>(rng.below(made.graph.link_count())));
  if (made.graph.port(broken).usable())
    made.graph = Graph::with_down(std::move(made.graph), std::array{broken});
  return made;
}

TrafficMatrix random_traffic(std::uint32_t ranks, Rng& rng) {
  std::vector<Flow> flows;
  const std::uint64_t step = rng.below(2) == 0 ? 1 : 64;
  const std::uint64_t most = std::uint64_t{1} << rng.below(12);
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    flows.push_back({from, to, bytes, 1});
  };
  if (rng.below(2) == 0) {  // Every rank the same, as in collectives.
    for (std::uint64_t offsets = 1 + rng.below(3); offsets > 0; --offsets) {
      const auto by = static_cast<std::uint32_t>(1 + rng.below(std::max(1u, ranks - 1)));
      const std::uint64_t bytes = step * (1 + rng.below(most));
      const bool flip = (ranks & (ranks - 1)) == 0 && rng.below(2) == 0;
      for (std::uint32_t r = 0; r < ranks; ++r)
        add(r, flip ? (r ^ by) % ranks : (r + by) % ranks, bytes);
    }
    if (rng.below(3) == 0) flows.pop_back();  // All but one the same.
  }
  for (std::uint64_t more = rng.below(2 * ranks); more > 0; --more)
    add(static_cast<std::uint32_t>(rng.below(ranks)), static_cast<std::uint32_t>(rng.below(ranks)),
        step * rng.below(most));
  return *TrafficMatrix::make(ranks, std::move(flows));
}

Result<Problem> random_problem(const Network& network, Rng& rng) {
  auto topology = std::make_shared<Topology>(build(network, rng));
  const Graph& graph = topology->graph;
  Request request;
  const std::uint32_t nodes = graph.node_count();
  request.slots_per_node = static_cast<std::uint32_t>(nodes <= 4 ? 1 + rng.below(2) : 1);
  for (std::uint32_t n = 0; n < nodes; ++n)
    if (nodes > 3 && rng.below(12) == 0) request.forbidden.push_back(NodeId(n));
  request.routing = network.routings[rng.below(network.routings.size())];
  if (rng.below(3) == 0)
    for (std::size_t c = 0; c < graph.link_classes().size(); ++c)
      request.link_slowness.push_back(0.5 + 0.25 * static_cast<double>(rng.below(8)));
  const std::uint32_t slots =
      (nodes - static_cast<std::uint32_t>(request.forbidden.size())) * request.slots_per_node;
  if (slots == 0) return Error::input("no slots");
  const std::uint32_t ranks_max = std::min(slots, rng.below(4) == 0 ? 7u : 6u);
  const auto ranks =
      static_cast<std::uint32_t>(rng.below(2) == 0 ? ranks_max : 1 + rng.below(ranks_max));
  if (rng.below(3) == 0)
    for (std::uint32_t r = 0; r < ranks; ++r)
      request.fixed.push_back(rng.below(3) == 0 ? static_cast<std::uint32_t>(rng.below(nodes))
                                                : anywhere);
  return Problem::make(topology, random_traffic(ranks, rng), std::move(request));
}

// Calls see(map) for every way to give nodes to ranks.
void every_map(const Problem& problem, const std::function<void(const RankMap&)>& see) {
  const RankMap start = problem.in_order();
  const std::uint32_t nodes = problem.topology().graph.node_count();
  std::vector<std::uint32_t> chosen;
  std::vector<std::uint32_t> taken(nodes, 0);
  const std::function<void()> next = [&] {
    const auto rank = static_cast<std::uint32_t>(chosen.size());
    if (rank == problem.ranks()) {
      if (auto map = problem.from_nodes(chosen)) see(*map);
      return;
    }
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (taken[n] == problem.slots_at(NodeId(n))) continue;
      if (problem.is_fixed(rank) && problem.node(start[rank]) != NodeId(n)) continue;
      ++taken[n];
      chosen.push_back(n);
      next();
      chosen.pop_back();
      --taken[n];
    }
  };
  next();
}

// The best of each kind over all maps, not of one map.
Judgement best_of_all(const Problem& problem, const Objective& objective, Paths& paths) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Judgement best;
  best.hops = ~std::uint64_t{0};
  best.hop_bytes = best.link_max = best.link_norm = best.value = far;
  every_map(problem, [&](const RankMap& map) {
    const Judgement one = judge(problem, map, objective, paths);
    best.hops = std::min(best.hops, one.hops);
    best.hop_bytes = std::min(best.hop_bytes, one.hop_bytes);
    best.link_max = std::min(best.link_max, one.link_max);
    best.link_norm = std::min(best.link_norm, one.link_norm);
    best.value = std::min(best.value, one.value);
  });
  return best;
}

std::unique_ptr<Paths> paths_of(const Problem& problem) {
  return std::move(*make_paths(problem.topology(), problem.routing()));
}

TEST(Bounds, no_map_of_a_small_problem_beats_them) {
  const std::uint64_t seed = test_seed(6);
  Rng rng = Rng(seed).stream("bounds");
  int tried = 0, tight = 0;
  for (int i = 0; i < 40; ++i) {
    for (const Network& network : networks()) {
      auto problem = random_problem(network, rng);
      if (!problem) continue;  // Fixed to a forbidden or full node.
      SCOPED_TRACE(replay_text(seed) + " round " + std::to_string(i) + " " + network.spec + " " +
                   problem->routing());
      const Objective objective =
          *parse_objective(objective_texts[rng.below(std::size(objective_texts))]);
      const auto paths = paths_of(*problem);
      const Judgement best = best_of_all(*problem, objective, *paths);
      const Bounds bounds = find_bounds(*problem, objective, *paths);
      ASSERT_LE(bounds.hops, best.hops) << describe(bounds.hops_by);
      ASSERT_LE(bounds.hop_bytes, best.hop_bytes) << describe(bounds.hop_bytes_by);
      ASSERT_LE(bounds.link_max, best.link_max) << describe(bounds.link_max_by);
      ASSERT_LE(bounds.link_norm, best.link_norm);
      ASSERT_LE(bounds.value, best.value) << to_text(objective);
      ++tried;
      if (best.hops > 0 && bounds.hops == best.hops) ++tight;
    }
  }
  EXPECT_GT(tried, 400);
  EXPECT_GT(tight, tried / 10);  // A bound of 0 would pass all of the above.
}

// Large networks are not searched; what stands in must not be farther.
TEST(Bounds, without_a_search_slots_seem_nearer_never_farther) {
  const std::uint64_t seed = test_seed(6);
  Rng rng = Rng(seed).stream("reach");
  for (int i = 0; i < 20; ++i) {
    for (const Network& network : networks()) {
      auto problem = random_problem(network, rng);
      if (!problem) continue;
      SCOPED_TRACE(replay_text(seed) + " round " + std::to_string(i) + " " + network.spec);
      const Reach searched(*problem);
      const Reach guessed(*problem, 0);
      std::size_t peers_max = 0;
      for (std::uint32_t r = 0; r < problem->ranks(); ++r)
        peers_max = std::max(peers_max, problem->talks(r).size());
      for (std::size_t j = 0; j < peers_max; ++j)
        ASSERT_LE(guessed.from_best(j), searched.from_best(j));
    }
  }
}

Problem problem_on(const char* spec, std::uint32_t ranks, std::vector<Flow> flows,
                   Request request = {}) {
  return *Problem::make(std::make_shared<Topology>(*make_topology(spec)),
                        *TrafficMatrix::make(ranks, std::move(flows)), std::move(request));
}

Bounds paper_bounds(const Problem& problem) {
  return find_bounds(problem, Objective{}, *paths_of(problem));
}

// In rank order, which is the best there is: neighbours are neighbours.
std::vector<Flow> torus_stencil(std::uint32_t side) {
  std::vector<Flow> flows;
  const auto at = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return x % side + side * (y % side + side * (z % side));
  };
  for (std::uint32_t z = 0; z < side; ++z)
    for (std::uint32_t y = 0; y < side; ++y)
      for (std::uint32_t x = 0; x < side; ++x)
        for (const std::uint32_t to : {at(x + 1, y, z), at(x, y + 1, z), at(x, y, z + 1)}) {
          flows.push_back({at(x, y, z), to, 65536, 1});
          flows.push_back({to, at(x, y, z), 65536, 1});
        }
  return flows;
}

std::vector<Flow> bruck(std::uint32_t ranks, bool grows) {
  std::vector<Flow> flows;
  for (std::uint32_t by = 1; by < ranks; by *= 2)
    for (std::uint32_t r = 0; r < ranks; ++r)
      flows.push_back({r, (r + by) % ranks, grows ? 2048ull * by : 32768, 1});
  return flows;
}

TEST(Bounds, a_stencil_on_its_torus_is_proved_best) {
  const Problem problem = problem_on("torus:16x16x16", 4096, torus_stencil(16));
  const Bounds bounds = paper_bounds(problem);
  const Judgement map = judge(problem, problem.in_order(), Objective{}, *paths_of(problem));
  EXPECT_EQ(bounds.hops, 24576u);
  EXPECT_EQ(bounds.hops, map.hops);
  EXPECT_EQ(bounds.hop_bytes, map.hop_bytes);
  EXPECT_EQ(bounds.link_max, map.link_max);
  EXPECT_EQ(bounds.value, map.value);
  EXPECT_EQ(bounds.hops_by, Argument::neighbours);
}

TEST(Bounds, a_ring_has_one_hop_for_each_message) {
  std::vector<Flow> flows;
  for (std::uint32_t r = 0; r < 4096; ++r) {
    flows.push_back({r, (r + 1) % 4096, 65536, 1});
    flows.push_back({(r + 1) % 4096, r, 65536, 1});
  }
  const Bounds bounds = paper_bounds(problem_on("torus:16x16x16", 4096, std::move(flows)));
  EXPECT_EQ(bounds.hops, 8192u);
  EXPECT_EQ(bounds.link_max, 65536);
  EXPECT_EQ(bounds.value, 8192.0 * 65536);
}

// 150,937.01 by the closed forms of both spectra.
TEST(Bounds, eigenvalues_hold_bruck_apart) {
  const Bounds all_gather = paper_bounds(problem_on("torus:16x16x16", 4096, bruck(4096, true)));
  EXPECT_EQ(all_gather.hops, 150938u);
  EXPECT_EQ(all_gather.hops_by, Argument::spectrum);
  EXPECT_EQ(all_gather.link_max, 2048.0 * 2048);
  EXPECT_EQ(all_gather.link_max_by, Argument::heaviest_flows);
  // 6.14 messages on the mean link: on some there are 7.
  const Bounds all_to_all = paper_bounds(problem_on("torus:16x16x16", 4096, bruck(4096, false)));
  EXPECT_EQ(all_to_all.hops, 150938u);
  EXPECT_EQ(all_to_all.link_max, 7 * 32768);
  EXPECT_EQ(all_to_all.link_max_by, Argument::mean_link);
}

TEST(Bounds, all_to_all_is_what_it_is_and_a_pair_less_is_less) {
  std::vector<Flow> flows;
  for (std::uint32_t from = 0; from < 16; ++from)
    for (std::uint32_t to = 0; to < 16; ++to)
      if (from != to) flows.push_back({from, to, 64, 1});
  const Problem whole = problem_on("torus:4x4", 16, flows);
  EXPECT_EQ(paper_bounds(whole).hops, 16u * 32);
  // Ranks 0 and 10 are silent to each other, and 4 links apart.
  std::erase_if(flows, [](const Flow& f) { return f.from + f.to == 10 && f.from * f.to == 0; });
  const Problem less = problem_on("torus:4x4", 16, flows);
  const Judgement map = judge(less, less.in_order(), Objective{}, *paths_of(less));
  EXPECT_EQ(map.hops, 16u * 32 - 8);
  EXPECT_LE(paper_bounds(less).hops, map.hops);
  EXPECT_GT(paper_bounds(less).hops, 400u);
}

TEST(Bounds, seven_flows_by_six_links_share_one) {
  std::vector<Flow> flows;
  for (std::uint32_t to = 1; to <= 7; ++to) flows.push_back({0, to, 100 + to, 1});
  const Bounds bounds = paper_bounds(problem_on("torus:4x4x4", 64, flows));
  EXPECT_EQ(bounds.link_max, 101 + 102);
  EXPECT_EQ(bounds.hops, 8u);
  // Where the routing spreads, no more is proved than a sixth of all.
  Request request;
  request.routing = "min-adaptive";
  const Bounds spread = paper_bounds(problem_on("torus:4x4x4", 64, flows, request));
  EXPECT_NEAR(spread.link_max, (7 * 100 + 28) / 6.0, 1e-3);
}

TEST(Bounds, fixed_ranks_count_as_they_lie) {
  const std::vector<Flow> flows = {{0, 1, 10, 1}, {1, 2, 5, 1}};
  Request request;
  request.fixed = {0, 7, 4};
  const Problem problem = problem_on("mesh:8", 8, flows, request);
  const Bounds bounds = paper_bounds(problem);
  const Judgement map = judge(problem, problem.in_order(), Objective{}, *paths_of(problem));
  EXPECT_EQ(bounds.hops, 10u);
  EXPECT_EQ(bounds.hops, map.hops);
  EXPECT_EQ(bounds.hop_bytes, map.hop_bytes);
  EXPECT_EQ(bounds.link_max, map.link_max);
}

TEST(Bounds, ranks_of_one_node_need_no_hop) {
  const std::vector<Flow> flows = {{0, 1, 10, 1}, {1, 0, 10, 1}};
  Request request;
  request.slots_per_node = 2;
  const Bounds bounds = paper_bounds(problem_on("torus:4", 8, flows, request));
  EXPECT_EQ(bounds.hops, 0u);
  EXPECT_EQ(bounds.link_max, 0);
  EXPECT_EQ(bounds.hops_by, Argument::none);
}

TEST(Bounds, what_hangs_together_must_leave_its_router) {
  // A row of 9 ranks on nodes of 4: three nodes at least, so two of the talks are between nodes.
  std::vector<Flow> flows;
  for (std::uint32_t r = 0; r + 1 < 9; ++r) flows.push_back({r, r + 1, 100 + r, 1});
  Request request;
  request.slots_per_node = 4;
  const Bounds bounds = paper_bounds(problem_on("torus:4x4", 9, flows, request));
  EXPECT_EQ(bounds.hops, 2u);
  EXPECT_EQ(bounds.hops_by, Argument::components);
  EXPECT_EQ(bounds.hop_bytes, 201);
  EXPECT_GT(bounds.link_max, 0);
  // In a tree they are two links apart.
  EXPECT_EQ(paper_bounds(problem_on("fattree:k=4,levels=2", 9, flows, {})).hops, 4u);
}

TEST(Bounds, who_has_no_way_loads_no_link) {
  Graph::Parts parts;
  parts.port_count = {1, 1, 0};
  parts.cables = {{.a = RouterId(0), .a_port = 0, .b = RouterId(1), .b_port = 0}};
  parts.router_of = {RouterId(0), RouterId(1), RouterId(2)};
  parts.link_classes = {"cable"};
  auto topology = std::make_shared<Topology>(
      Topology{.name = "torn", .shape = plain_shape(), .graph = *Graph::make(std::move(parts))});
  const std::vector<Flow> flows = {{0, 1, 10, 1}, {1, 2, 10, 1}};
  const Problem problem = *Problem::make(topology, *TrafficMatrix::make(3, flows), {});
  const Bounds bounds = paper_bounds(problem);
  EXPECT_EQ(bounds.link_max, 0);
  EXPECT_GE(bounds.hops, 2u);
}

TEST(Bounds, nothing_to_say_costs_nothing) {
  const Bounds silent = paper_bounds(problem_on("torus:4x4", 16, {}));
  EXPECT_EQ(silent.hops, 0u);
  EXPECT_EQ(silent.value, 0);
  const Bounds alone = paper_bounds(problem_on("torus:4x4", 16, {{3, 3, 1000, 1}}));
  EXPECT_EQ(alone.hops, 0u);
  EXPECT_EQ(alone.value, 0);
}

}  // namespace
}  // namespace weft::map
