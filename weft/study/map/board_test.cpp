// SPDX-License-Identifier: Apache-2.0
// The board after any number of swaps against a judgement from scratch.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/test_seed.hpp>
#include <weft/study/map/board.hpp>
#include <weft/study/map/judge.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

struct Setting {
  const char* net;  // "graph": one of no family.
  const char* routing;
  std::uint32_t per_node = 1;
  std::uint32_t swaps = 60;  // Kept, for each objective.
};

const Setting settings[] = {
    {"torus:4x4x4", "dor:up"},
    {"torus:16x2", "dor:up"},
    {"torus:16x16", "dor:up", 1, 20},
    {"torus:5x6,p=2", "dor:up"},
    {"torus:3x3", "dor:up", 3},
    {"mesh:4x5", "dor:up"},
    {"cube:4x4,wrap=10", "dor:up"},
    {"torus:70", "dor:up"},  // Longer than a line trial takes.
    {"torus:4x4", "dor", 2},
    {"torus:5x3", "dor"},
    {"torus:4x5", "min-adaptive"},
    {"fattree:k=3,levels=2", "dest-down"},
    {"fattree:k=3,levels=2", "adaptive-up"},
    {"fattree:k=2,levels=3", "up-down", 2},
    {"dragonfly:a=3,h=1,p=2", "up-down"},
    {"graph", "up-down"},
    {"graph", "shortest"},
};

const char* const objectives[] = {"hops",
                                  "hop-bytes",
                                  "link-max",
                                  "link-norm:2",
                                  "link-norm:16",
                                  "paper",
                                  "mix:hops=0.5,hop-bytes=1,link-max=2",
                                  "mix:hop-bytes=1,link-norm=0.5"};

Problem draw_problem(const Setting& setting, Rng& rng) {
  const auto net = setting.net == std::string("graph") ? odd_graph(10, 4) : network(setting.net);
  Request request;
  request.routing = setting.routing;
  request.slots_per_node = setting.per_node;
  const std::uint32_t slots = net->graph.node_count() * setting.per_node;
  const std::uint32_t ranks = rng.coin() ? slots : slots - slots / 4;
  if (rng.coin()) request.fixed = {2 % net->graph.node_count(), anywhere, 0};
  if (rng.coin() && net->graph.link_classes().size() > 1)
    request.link_slowness.assign(net->graph.link_classes().size(), 1);
  for (double& s : request.link_slowness) s = rng.coin() ? 1 : 2.5;
  return make_problem(net, ranks, random_flows(ranks, 3 * ranks, rng), request);
}

double grown(double x) {
  return x / (1 + x / 2);
}

// The sum of p-th powers of loads, by any common measure.
double norm_of(const Judgement& j, double p) {
  double sum = 0;
  for (const double load : j.loads) sum += std::pow(load / 1e6, p);
  return sum;
}

// By how much the logarithm of the smooth objective grows, slowly.
double slow_cost(const Judgement& before, const Judgement& after, const Objective& o) {
  double cost = 0;
  const auto part = [&](double weight, double old, double made) {
    if (weight > 0 && old > 0) cost += weight * grown((made - old) / old);
  };
  part(o.hops, static_cast<double>(before.hops), static_cast<double>(after.hops));
  part(o.hop_bytes, before.hop_bytes, after.hop_bytes);
  const double links = (o.link_max + o.link_norm) / o.norm;
  part(links, norm_of(before, o.norm), norm_of(after, o.norm));
  return cost;
}

class BoardCheck {
 public:
  BoardCheck(const Problem& problem, const Objective& objective)
      : problem_(problem),
        objective_(objective),
        paths_(paths_of(problem)),
        board_(problem, objective, paths_of(problem)) {}

  void start(Rng& rng) {
    board_.set(random_map(problem_, rng));
    compare();
  }

  void swap(Rng& rng, bool keep) {
    const auto draw = [&] {
      for (;;) {
        const auto slot = static_cast<std::uint32_t>(rng.below(problem_.slots()));
        if (!problem_.is_fixed(board_.rank_at(slot))) return slot;
      }
    };
    const std::uint32_t a = draw();
    std::uint32_t b = draw();
    // Often two that talk with each other: what they say turns round.
    const auto talks = problem_.talks(board_.rank_at(a));
    if (!talks.empty() && rng.coin()) {
      const std::uint32_t peer = talks[rng.below(talks.size())].peer;
      if (!problem_.is_fixed(peer)) b = board_.slot_of(peer);
    }
    const double cost = board_.try_swap(a, b);
    RankMap swapped = board_.map();
    std::swap(swapped[board_.rank_at(a)], swapped[board_.rank_at(b)]);
    const double slow = slow_cost(judge_map(board_.map()), judge_map(swapped), objective_);
    ASSERT_NEAR(cost, slow, 2e-6 + 1e-4 * std::abs(slow));
    if (!keep) return;
    board_.keep();
    ASSERT_EQ(board_.map(), swapped);
  }

  void compare() {
    const Judgement j = judge_map(board_.map());
    ASSERT_TRUE(problem_.is_map(board_.map()));
    ASSERT_EQ(static_cast<std::uint64_t>(board_.hops()), j.hops);
    ASSERT_EQ(board_.hop_bytes(), j.hop_bytes);
    if (objective_.needs_links()) {
      const double off = paths_->whole() == 1 ? 0 : 1e-9;
      for (std::uint32_t l = 0; l < j.loads.size(); ++l) {
        const double load = board_.load(LinkId(l)) * problem_.slowness(LinkId(l));
        ASSERT_NEAR(load, j.loads[l], off * j.loads[l]) << "link " << l;
      }
      ASSERT_NEAR(board_.link_max(), j.link_max, 1e-12 * j.link_max);
    }
    // A p-norm is followed by single precision where lines are tried.
    const double off = objective_.link_norm > 0 ? 1e-5 : 1e-12;
    ASSERT_NEAR(board_.value(), j.value, off * j.value);
  }

 private:
  Judgement judge_map(const RankMap& map) { return judge(problem_, map, objective_, *paths_); }

  const Problem& problem_;
  Objective objective_;
  std::unique_ptr<Paths> paths_;
  Board board_;
};

class BoardOn : public testing::TestWithParam<Setting> {};

TEST_P(BoardOn, EqualsTheJudgementAfterEverySwap) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng = Rng(seed).stream(GetParam().net).stream(GetParam().routing);
  for (const char* text : objectives) {
    SCOPED_TRACE(text);
    const Problem problem = draw_problem(GetParam(), rng);
    BoardCheck check(problem, objective_of(text));
    check.start(rng);
    for (std::uint32_t kept = 0; kept < GetParam().swaps && !testing::Test::HasFatalFailure();) {
      const bool keep = rng.below(3) > 0;
      check.swap(rng, keep);
      check.compare();
      kept += keep ? 1 : 0;
    }
  }
}

std::string setting_name(const testing::TestParamInfo<Setting>& info) {
  std::string name = std::string(info.param.net) + "_" + info.param.routing;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return std::to_string(info.index) + "_" + name;
}
INSTANTIATE_TEST_SUITE_P(Networks, BoardOn, testing::ValuesIn(settings), setting_name);

// The norm is summed up anew after some thousand swaps: nothing may be lost there or before.
TEST(Board, ManySwaps) {
  Rng rng(3);
  for (const char* routing : {"dor:up", "dor"}) {
    Request request;
    request.routing = routing;
    const Problem problem =
        make_problem(network("torus:4x4"), 16, random_flows(16, 40, rng), request);
    BoardCheck check(problem, objective_of("mix:hops=1,link-norm=1"));
    check.start(rng);
    for (int i = 0; i < 10'000; ++i) {
      check.swap(rng, true);
      ASSERT_FALSE(HasFatalFailure());
      if (i % 64 == 0) check.compare();
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST(Board, NormsOfAllSteepness) {
  Rng rng(9);
  const Problem problem = make_problem(network("torus:4x6"), 24, random_flows(24, 80, rng));
  const auto paths = paths_of(problem);
  for (const int p : {2, 4, 8, 16, 32, 64}) {
    Objective o = objective_of("link-max");
    o.norm = p;  // The slow version follows the same p.
    Board board(problem, objective_of("link-max"), paths_of(problem));
    board.set(random_map(problem, rng));
    board.set_norm(p);
    for (int i = 0; i < 50; ++i) {
      const auto a = static_cast<std::uint32_t>(rng.below(24));
      const auto b = static_cast<std::uint32_t>(rng.below(24));
      const double cost = board.try_swap(a, b);
      RankMap swapped = board.map();
      std::swap(swapped[board.rank_at(a)], swapped[board.rank_at(b)]);
      const double slow =
          slow_cost(judge(problem, board.map(), o, *paths), judge(problem, swapped, o, *paths), o);
      EXPECT_NEAR(cost, slow, 2e-6 + 1e-4 * std::abs(slow)) << p;
      if (i % 2 == 0) board.keep();
    }
  }
}

TEST(Board, PatternsOfNothing) {
  for (const char* net : {"torus:4x4", "fattree:k=4,levels=1"}) {
    for (const std::vector<Flow>& flows : {std::vector<Flow>{}, std::vector<Flow>{{0, 0, 9, 1}}}) {
      const Problem problem = make_problem(network(net), 1, flows);
      Board board(problem, objective_of("paper"), paths_of(problem));
      board.set(problem.in_order());
      EXPECT_EQ(board.value(), 0);
      EXPECT_EQ(board.try_swap(0, problem.slots() - 1), 0);
      board.keep();
      EXPECT_EQ(board.value(), 0);
      EXPECT_TRUE(problem.is_map(board.map()));
    }
  }
}

}  // namespace
}  // namespace weft::map
