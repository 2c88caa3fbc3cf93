// SPDX-License-Identifier: Apache-2.0
// How fast maps are judged: swaps tried line by line (tori under dor:up) and link by link (dor,
// which splits ties), against whole maps by the quick judge and by the slow one. The pattern is
// Bruck's allgather as one step, 2048 * 2^k bytes to rank i + 2^k.
//   bench/map_swaps --benchmark_format=json
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <weft/base/rng.hpp>
#include <weft/study/map/board.hpp>
#include <weft/study/map/judge.hpp>
#include <weft/study/map/quick_judge.hpp>

namespace weft::map {
namespace {

TrafficMatrix bruck(std::uint32_t ranks) {
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < ranks; ++i)
    for (std::uint32_t step = 1; step < ranks; step *= 2)
      flows.push_back({i, (i + step) % ranks, std::uint64_t{2048} * step, 1});
  return *TrafficMatrix::make(ranks, std::move(flows));
}

Problem cube(std::int64_t side, const char* routing) {
  const std::string text = std::to_string(side);
  auto topology =
      std::make_shared<const Topology>(*make_topology("torus:" + text + "x" + text + "x" + text));
  const std::uint32_t nodes = topology->graph.node_count();
  Request request;
  request.routing = routing;
  return *Problem::make(std::move(topology), bruck(nodes), std::move(request));
}

// A map that is neither in order nor a mess: halves of bits exchanged.
RankMap mixed(const Problem& problem) {
  RankMap map = problem.in_order();
  const auto bits = static_cast<int>(std::bit_width(problem.slots() - 1));
  for (std::uint32_t& slot : map)
    slot = ((slot >> (bits / 2)) | (slot << (bits - bits / 2))) & (problem.slots() - 1);
  return map;
}

void try_swaps(benchmark::State& state, const char* routing) {
  const Problem problem = cube(state.range(0), routing);
  Board board(problem, {}, *make_paths(problem.topology(), problem.routing()));
  board.set(mixed(problem));
  Rng rng(1);
  for (auto _ : state) {
    const auto a = static_cast<std::uint32_t>(rng.below(problem.slots()));
    const auto b = static_cast<std::uint32_t>(rng.below(problem.slots()));
    benchmark::DoNotOptimize(board.try_swap(a, b));
  }
  state.SetItemsProcessed(state.iterations());
}

void whole_quick(benchmark::State& state) {
  const Problem problem = cube(state.range(0), "dor:up");
  QuickJudge judge(problem, {});
  const RankMap map = mixed(problem);
  for (auto _ : state) benchmark::DoNotOptimize(judge.value(map, QuickJudge::too_much));
  state.SetItemsProcessed(state.iterations());
}

void whole_slow(benchmark::State& state) {
  const Problem problem = cube(state.range(0), "dor:up");
  const std::unique_ptr<Paths> paths = *make_paths(problem.topology(), problem.routing());
  const RankMap map = mixed(problem);
  for (auto _ : state) benchmark::DoNotOptimize(judge(problem, map, {}, *paths).value);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(try_swaps, by_line, "dor:up")->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(try_swaps, by_link, "dor")->Arg(8)->Arg(16);
BENCHMARK(whole_quick)->Arg(8)->Arg(16);
BENCHMARK(whole_slow)->Arg(8)->Arg(16);

}  // namespace
}  // namespace weft::map

BENCHMARK_MAIN();
