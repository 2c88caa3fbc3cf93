// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/parallel/processes/local.hpp>
#include <weft/study/map/anneal.hpp>
#include <weft/study/map/bounds.hpp>
#include <weft/study/map/run_jobs.hpp>
#include <weft/study/map/scotch.hpp>
#include <weft/study/map/search.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

SearchOptions small(std::uint64_t evaluations = 3000, std::uint64_t tries = 8000) {
  SearchOptions options;
  options.budget = {evaluations, tries, 4, false};
  return options;
}

Problem random_problem(const std::string& net, std::uint32_t ranks, std::uint64_t seed,
                       Request request = {}) {
  Rng rng(seed);
  return make_problem(network(net), ranks, random_flows(ranks, 4 * ranks, rng), request);
}

Problem powers_of_two(const std::string& net, std::uint32_t ranks) {
  std::vector<Flow> flows;
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::uint32_t d = 1; d < ranks; d *= 2) flows.push_back({r, (r + d) % ranks, 16 * d, 1});
  return make_problem(network(net), ranks, flows);
}

Problem shuffled_stencil(const std::string& net, const std::vector<std::uint32_t>& sides) {
  Rng rng(4);
  const std::uint32_t ranks = network(net)->graph.node_count();
  return make_problem(network(net), ranks, stencil({sides, true}, shuffled(ranks, rng)));
}

Found found_by(const Problem& problem, const SearchOptions& options) {
  auto found = search(problem, options);
  EXPECT_TRUE(found) << found.error().text();
  const auto paths = paths_of(problem);
  EXPECT_TRUE(problem.is_map(found->best.map));
  const double value = judge(problem, found->best.map, options.objective, *paths).value;
  EXPECT_EQ(found->best.value, value);
  return *std::move(found);
}

double value_of(const Problem& problem, const RankMap& map, const Objective& objective) {
  const auto paths = paths_of(problem);
  return judge(problem, map, objective, *paths).value;
}

// One process in each thread.
std::vector<Found> found_together(const Problem& problem, const SearchOptions& options, int count,
                                  const std::vector<const std::atomic<bool>*>& stops = {}) {
  const auto peers = make_local_group(count);
  std::vector<Found> found(peers.size());
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < peers.size(); ++p)
    threads.emplace_back([&, p] {
      SearchOptions own = options;
      own.peers = peers[p].get();
      if (!stops.empty()) own.stop = stops[p];
      found[p] = found_by(problem, own);
    });
  for (std::thread& t : threads) t.join();
  return found;
}

TEST(RunJobs, EveryJobIsDoneOnce) {
  for (const int threads : {0, 1, 3}) {
    for (const std::size_t jobs : {0u, 1u, 2u, 100u}) {
      std::vector<std::atomic<int>> done(jobs);
      const auto caller = std::this_thread::get_id();
      run_jobs(
          jobs, threads, [&](std::size_t i) { ++done[i]; },
          [&] { EXPECT_EQ(std::this_thread::get_id(), caller); });
      for (const auto& times : done) EXPECT_EQ(times.load(), 1);
    }
  }
}

TEST(Annealer, TheSameStartAndSeedGiveTheSame) {
  Request fixed;
  fixed.fixed = {5, anywhere, 3};
  for (const char* text : {"paper", "hop-bytes", "link-norm:8"}) {
    const Problem problem = random_problem("torus:4x4", 14, 5, fixed);
    const Objective o = objective_of(text);
    Rng rng(2);
    const RankMap start = random_map(problem, rng);
    const auto run = [&](std::uint64_t seed) {
      Annealer annealer(problem, o, paths_of(problem), Rng(seed));
      annealer.start(start, {});
      for (int i = 0; i < 4; ++i) annealer.run(1000, 4000, nullptr);
      EXPECT_EQ(annealer.tries(), 4000u);
      EXPECT_TRUE(problem.is_map(annealer.best()));
      const double value = value_of(problem, annealer.best(), o);
      EXPECT_NEAR(annealer.best_value(), value, 1e-5 * value);
      EXPECT_LT(value, value_of(problem, start, o));
      return annealer.best();
    };
    EXPECT_EQ(run(1), run(1)) << text;
  }
}

TEST(SearchWorkers, AnyNumberOfThreadsFindsTheSame) {
  const Problem cases[] = {powers_of_two("torus:4x4x4", 64), random_problem("torus:5x4", 18, 3),
                           random_problem("fattree:k=3,levels=2", 9, 5),
                           shuffled_stencil("mesh:6x6", {6, 6})};
  for (const Problem& problem : cases) {
    SCOPED_TRACE(problem.topology().name);
    for (const bool flexible : {false, true}) {
      SearchOptions options = small();
      options.budget.flexible = flexible;
      const Found one = found_by(problem, options);
      for (const int threads : {2, 4}) {
        options.threads = threads;
        const Found more = found_by(problem, options);
        EXPECT_EQ(more.best.map, one.best.map);
        EXPECT_EQ(more.best.name, one.best.name);
        EXPECT_EQ(more.evaluations, one.evaluations);
        EXPECT_EQ(more.tries, one.tries);
        EXPECT_EQ(more.used, one.used);
        EXPECT_EQ(more.candidates.size(), one.candidates.size());
      }
      options.threads = 1;
      options.budget = one.used;
      EXPECT_EQ(found_by(problem, options).best.map, one.best.map);
    }
  }
}

TEST(SearchWorkers, AnyNumberOfProcessesFindsTheSame) {
  for (const Problem& problem :
       {powers_of_two("torus:4x4x2", 32), random_problem("mesh:5x4", 20, 3)}) {
    SearchOptions options = small(2000, 4000);
    options.budget.flexible = true;
    const Found alone = found_by(problem, options);
    for (const int count : {1, 2, 3}) {
      for (const Found& one : found_together(problem, options, count)) {
        EXPECT_EQ(one.best.map, alone.best.map) << count;
        EXPECT_EQ(one.evaluations, alone.evaluations);
        EXPECT_EQ(one.tries, alone.tries);
        EXPECT_EQ(one.used, alone.used);
      }
    }
  }
}

// A chain that reaches the goal ends the others, which must not change the map that is found.
TEST(SearchWorkers, AGoalThatIsReachedFindsTheSameToo) {
  const Problem problem = shuffled_stencil("torus:5x4", {5, 4});
  SearchOptions options = small(0, 40'000);
  options.choice = {false, false, false, 1};
  options.objective = objective_of("hops");
  options.goal = 4 * 20;
  const Found one = found_by(problem, options);
  EXPECT_TRUE(one.perfect);
  for (int i = 0; i < 5; ++i) {
    options.threads = 4;
    EXPECT_EQ(found_by(problem, options).best.map, one.best.map);
    for (const Found& other : found_together(problem, options, 3))
      EXPECT_EQ(other.best.map, one.best.map);
  }
}

TEST(Search, NeverWorseThanIdentityAndScotch) {
  Request shared;
  shared.slots_per_node = 2;
  shared.forbidden = {NodeId(3)};
  shared.fixed = {1, anywhere, 1, 0};
  const Problem cases[] = {
      random_problem("torus:4x4x4", 60, 1), random_problem("torus:4x4", 25, 2, shared),
      random_problem("dragonfly:a=3,h=1,p=2", 24, 3), random_problem("hyperx:4x4", 16, 4)};
  for (const Problem& problem : cases) {
    SCOPED_TRACE(problem.topology().name);
    for (const char* text :
         {"paper", "hops", "hop-bytes", "link-max", "link-norm:8", "mix:hop-bytes=1,link-max=2"}) {
      SearchOptions options = small(500, 1000);
      options.objective = objective_of(text);
      const Found found = found_by(problem, options);
      EXPECT_LE(found.best.value, value_of(problem, problem.in_order(), options.objective)) << text;
      if (const auto map = scotch_map(problem); map) {
        EXPECT_LE(found.best.value, value_of(problem, *map, options.objective)) << text;
      }
      const auto paths = paths_of(problem);
      const double bound = find_bounds(problem, options.objective, *paths).value;
      EXPECT_GE(found.best.value, bound * (1 - 1e-9)) << text;
      for (std::size_t i = 1; i < found.candidates.size(); ++i)
        EXPECT_LE(found.candidates[i - 1].value, found.candidates[i].value);
    }
  }
}

TEST(Search, AGoalEndsItAtOnce) {
  const Problem problem = shuffled_stencil("torus:5x6x7", {5, 6, 7});
  SearchOptions options = small(1'000'000'000, 1'000'000'000);
  const auto paths = paths_of(problem);
  options.goal = find_bounds(problem, options.objective, *paths).value;
  const Found found = found_by(problem, options);
  EXPECT_TRUE(found.perfect);
  EXPECT_FALSE(found.stopped);
  EXPECT_EQ(found.best.value, 6.0 * 210 * 1000);
}

TEST(Search, StoppedBefore) {
  const std::atomic<bool> stop = true;
  const Problem problem = random_problem("torus:4x4", 16, 2);
  SearchOptions options = small(1'000'000'000, 1'000'000'000);
  options.stop = &stop;
  const Found found = found_by(problem, options);
  EXPECT_TRUE(found.stopped);
  EXPECT_LE(found.best.value, value_of(problem, problem.in_order(), {}));
}

TEST(SearchWorkers, StoppedDuring) {
  for (const char* doing : {"first tries", "linear maps", "annealing"}) {
    std::atomic<bool> stop = false;
    const Problem problem = powers_of_two("torus:4x4x4", 64);
    SearchOptions options =
        doing == std::string("annealing") ? small(0, 1ull << 40) : small(1ull << 40, 1ull << 40);
    options.stop = &stop;
    options.threads = 2;
    options.report = [&](const Standing& s) {
      if (s.doing == doing) stop = true;
    };
    const Found found = found_by(problem, options);
    EXPECT_TRUE(found.stopped) << doing;
    EXPECT_LT(found.best.value, value_of(problem, problem.in_order(), {})) << doing;
  }
}

// A signal does not come to all processes at once.
TEST(SearchWorkers, StoppedInOneProcessAlone) {
  const std::atomic<bool> yes = true;
  const std::atomic<bool> no = false;
  const Problem problem = random_problem("torus:4x4", 16, 2);
  for (const bool first : {false, true}) {
    const auto found = found_together(problem, small(1ull << 40, 1ull << 40), 2,
                                      {first ? &yes : &no, first ? &no : &yes});
    EXPECT_EQ(found[0].best.map, found[1].best.map);
  }
}

TEST(Search, AGivenMapIsNeverLost) {
  const Problem problem = random_problem("torus:4x4x4", 64, 6);
  const Found good = found_by(problem, small(0, 200'000));
  SearchOptions options = small(0, 0);
  options.anneal = false;
  options.given = {{"given", good.best.map, 0}};
  const Found found = found_by(problem, options);
  EXPECT_EQ(found.best.map, good.best.map);
  EXPECT_EQ(found.best.name, "given");
  options = small(500, 500);
  options.given = {{"given", good.best.map, 0}};
  EXPECT_LE(found_by(problem, options).best.value, good.best.value);
}

TEST(Search, FixedRanksAndForbiddenNodesAreKept) {
  Request request;
  request.slots_per_node = 2;
  request.forbidden = {NodeId(5), NodeId(0)};
  request.fixed = {7, anywhere, 7, 2};
  for (const char* net : {"torus:4x4", "fattree:k=4,levels=2", "mesh:16"}) {
    const Problem problem = random_problem(net, 20, 3, request);
    const auto nodes = problem.to_nodes(found_by(problem, small()).best.map);
    EXPECT_EQ(nodes[0], 7u);
    EXPECT_EQ(nodes[2], 7u);
    EXPECT_EQ(nodes[3], 2u);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 5u), 0);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 0u), 0);
  }
}

TEST(Search, AllRanksFixed) {
  Request request;
  request.fixed = {3, 2, 1, 0};
  const Problem problem = random_problem("mesh:4", 4, 1, request);
  EXPECT_EQ(problem.to_nodes(found_by(problem, small()).best.map), request.fixed);
}

TEST(Search, OddPatterns) {
  const std::uint64_t huge = std::uint64_t{1} << 55;
  std::vector<Flow> heavy, apart;
  for (std::uint32_t r = 0; r < 16; ++r) {
    heavy.push_back({r, (r * 5 + 1) % 16, huge + r, 1});
    heavy.push_back({r, (r + 3) % 16, 1, 1});
    apart.push_back({r, r ^ 1, 100, 1});
  }
  const std::vector<std::vector<Flow>> patterns = {
      {}, {{2, 2, 9, 1}}, {{0, 1, 0, 1}}, {{0, 1, 5, 1}}, heavy, apart};
  for (const char* net : {"torus:4x4", "torus:2x2x2x2", "mesh:16", "fattree:k=4,levels=2",
                          "hyperx:16", "dragonfly:a=4,h=1,p=1"}) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      SCOPED_TRACE(std::string(net) + ", pattern " + std::to_string(i));
      const Problem problem = make_problem(network(net), 16, patterns[i]);
      for (const char* text : {"paper", "hop-bytes", "link-norm"}) {
        SearchOptions options = small(1000, 2000);
        options.objective = objective_of(text);
        const Found found = found_by(problem, options);
        EXPECT_TRUE(std::isfinite(found.best.value));
        EXPECT_LE(found.best.value, value_of(problem, problem.in_order(), options.objective));
      }
    }
  }
}

TEST(Search, OneRankAndOneSwitch) {
  const Problem one = make_problem(network("torus:2x2"), 1, {{0, 0, 5, 1}});
  EXPECT_EQ(found_by(one, small()).best.value, 0);
  const Problem near = random_problem("fattree:k=4,levels=1", 4, 1);
  EXPECT_EQ(found_by(near, small()).best.value, 0);
  Request request;
  request.forbidden = {NodeId(0), NodeId(1), NodeId(2)};
  const Problem last = make_problem(network("mesh:4"), 1, {}, request);
  EXPECT_EQ(last.to_nodes(found_by(last, small()).best.map), (std::vector<std::uint32_t>{3}));
}

TEST(Search, BrokenCables) {
  auto torus = *network("torus:4x4");
  const std::vector<LinkId> broken = {torus.graph.link(RouterId(5), 0)};
  torus.graph = Graph::with_down(std::move(torus.graph), broken);
  Rng rng(1);
  Request request;
  request.routing = "up-down";
  const Problem problem = make_problem(std::make_shared<const Topology>(std::move(torus)), 16,
                                       random_flows(16, 50, rng), request);
  const Found found = found_by(problem, small());
  EXPECT_LE(found.best.value, value_of(problem, problem.in_order(), {}));
}

TEST(Search, ByTimeTheQuickestWins) {
  const Problem problem = random_problem("torus:4x4", 16, 8);
  SearchOptions options = small();
  options.objective = objective_of("time");
  std::vector<RankMap> played;
  // The last one that is asked for is the quickest, which is not the best by the objective.
  options.play = [&](const RankMap& map, double limit, const std::atomic<bool>&) -> Result<double> {
    EXPECT_GE(limit, 10.0 - static_cast<double>(played.size()));
    played.push_back(map);
    return 10.0 - static_cast<double>(played.size());
  };
  const Found found = found_by(problem, options);
  ASSERT_GT(played.size(), 1u);
  // The best few, and those that no result may be worse than.
  EXPECT_LE(played.size(), 8u);
  EXPECT_NE(std::find(played.begin(), played.end(), problem.in_order()), played.end());
  EXPECT_EQ(found.best.map, played.back());
  EXPECT_EQ(found.candidates.front().map, played.back());
  EXPECT_GT(found.best.seconds, 0);
  options.play = [&](const RankMap&, double, const std::atomic<bool>&) -> Result<double> {
    return Error::run("no disk");
  };
  const auto failed = search(problem, options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text(), "no disk");
}

TEST(Search, WhatIsKnownWinsWhenItIsQuickest) {
  const Problem problem = random_problem("torus:4x4", 16, 8);
  SearchOptions options = small();
  options.objective = objective_of("time");
  const RankMap identity = problem.in_order();
  options.play = [&](const RankMap& map, double, const std::atomic<bool>&) -> Result<double> {
    return map == identity ? 1.0 : 2.0;
  };
  EXPECT_EQ(found_by(problem, options).best.map, identity);
}

TEST(Search, TimeThatIsOverIsSaid) {
  const Problem problem = random_problem("torus:4x4x4", 64, 6);
  SearchOptions options;
  std::atomic<int> looks = 0;
  options.clock = [&] { return looks++ == 0 ? 0.0 : 100.0; };
  options.seconds = 50;
  const Found found = found_by(problem, options);
  EXPECT_TRUE(found.late);
  EXPECT_FALSE(found.stopped);
  EXPECT_TRUE(problem.is_map(found.best.map));
}

TEST(Search, ReportsAndCheckpoints) {
  const Problem problem = powers_of_two("torus:4x4x4", 64);
  SearchOptions options = small();
  double last = -1;
  int reports = 0;
  double kept = 1e300;
  options.report = [&](const Standing& s) {
    ++reports;
    EXPECT_FALSE(s.doing.empty());
    EXPECT_LE(s.share, 1);
    last = s.best;
  };
  options.checkpoint = [&](const Candidate& best) {
    EXPECT_TRUE(problem.is_map(best.map));
    EXPECT_LE(best.value, kept);
    kept = best.value;
  };
  const Found found = found_by(problem, options);
  EXPECT_GT(reports, 0);
  EXPECT_GT(last, 0);
  EXPECT_EQ(kept, found.best.value);
}

// By a clock that goes on by itself whenever it is looked at.
TEST(Search, GivenTimeItEnds) {
  const Problem problem = random_problem("torus:4x4x4", 64, 8);
  SearchOptions options = small(1ull << 50, 1ull << 50);
  std::atomic<int> looks = 0;
  options.clock = [&] { return 0.001 * ++looks; };
  options.seconds = 0.05;
  const Found found = found_by(problem, options);
  EXPECT_FALSE(found.stopped);
  EXPECT_LT(found.best.value, value_of(problem, problem.in_order(), {}));
}

TEST(Search, UnknownRoutingIsAnError) {
  Request request;
  request.routing = "nonsense";
  const Problem problem = random_problem("torus:4x4", 16, 8, request);
  EXPECT_FALSE(search(problem, small()));
}

TEST(Search, Presets) {
  const Problem problem = random_problem("torus:4x4", 16, 8);
  const auto fast = preset_budget("fast", problem);
  const auto balanced = preset_budget("balanced", problem);
  const auto best = preset_budget("best", problem);
  ASSERT_TRUE(fast && balanced && best);
  EXPECT_LT(fast->tries, balanced->tries);
  EXPECT_LT(balanced->tries, best->tries);
  EXPECT_LT(fast->evaluations, balanced->evaluations);
  EXPECT_LT(balanced->evaluations, best->evaluations);
  const auto none = preset_budget("quick", problem);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text(), "'quick' is not fast, balanced or best");
}

}  // namespace
}  // namespace weft::map
