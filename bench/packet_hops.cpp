// SPDX-License-Identifier: Apache-2.0
// Packet-hops per second of the router model on one worker or more: 3-D tori under Bruck's
// all-to-all, random permutations and uniform load, and adaptive routing on small networks, in
// closed loop (a node sends its next message when it has received one), so that simulated
// congestion decides the pace.
//   bench/packet_hops --benchmark_format=json
// Instructions per hop, which no busy machine disturbs (divide by the hops it prints):
//   valgrind --tool=callgrind --toggle-collect='weft::detail::Engine::run*' bench/packet_hops
//       --benchmark_filter=bruck/512
// State per router and per packet are printed as bytes_per_router and bytes_per_packet.
#include <algorithm>
#include <cstdint>
#include <string>

#include "bench/closed_loop.hpp"
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <weft/simulate/router/network.hpp>

namespace weft {
namespace {

using bench::Bruck, bench::Permutations, bench::Uniform;

// The torus of the NSIM paper, Table 3; 16 packets of buffer per VC.
NetworkHardware nsim_torus() {
  NetworkHardware m;
  m.vcs = 2;
  m.flit = Bytes{16};
  m.mtu = Bytes{256};
  m.buffer = m.mtu * 16;
  m.route = m.vc_alloc = m.switch_alloc = Duration::ns(2);
  m.switch_delay = Duration::ns(140);
  m.link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(100), .credit_delay = Duration::ns(100)};
  m.node_link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(1), .credit_delay = Duration::ns(1)};
  m.lookahead = true;
  return m;
}

struct Shape {  // Of a load: messages that each node sends, and packets of each.
  int steps, packets, workers;
};

// Uniform destinations are not permutations: who has received k messages may send k + 1 more, so
// every node ends.
template <typename Load>
void run_load(benchmark::State& state, const Topology& topology, const Policy& policy,
              const NetworkHardware& machine, const Shape& shape) {
  for (auto _ : state) {
    state.PauseTiming();
    Load load(topology.graph.node_count(), shape.steps, machine.mtu * shape.packets);
    NetworkOptions options;
    options.workers = shape.workers;
    auto network = Network::make(topology, machine, policy, load, options);
    load.start(**network);
    state.ResumeTiming();
    benchmark::DoNotOptimize((*network)->run(Time::never()));
    const NetworkCounts counts = (*network)->counts();
    state.counters["hops"] = static_cast<double>(counts.hops);
    state.counters["checksum"] = load.checksum();
    state.counters["hops_per_s"] =
        benchmark::Counter(static_cast<double>(counts.hops), benchmark::Counter::kIsRate);
    state.counters["visits_per_hop"] =
        static_cast<double>(counts.visits) / static_cast<double>(counts.hops);
    state.counters["bytes_per_router"] = static_cast<double>((*network)->memory().bytes_per_router);
    state.counters["bytes_per_packet"] = static_cast<double>((*network)->memory().bytes_per_packet);
    state.counters["undelivered"] =
        static_cast<double>(counts.packets_sent - counts.packets_delivered);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_rss_mb"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

template <typename Load>
void packet_hops(benchmark::State& state, const std::string& torus, int steps, int packets,
                 int workers) {
  const Result<Topology> topology = make_topology(torus);
  const auto policy = make_policy("dor", *topology, 2);
  run_load<Load>(state, *topology, **policy, nsim_torus(), {steps, packets, workers});
}

// The general router: routing with choices, and small buffers, so that packets wait.
void adaptive(benchmark::State& state, const std::string& network, const std::string& routing) {
  const Result<Topology> topology = make_topology(network);
  NetworkHardware machine = nsim_torus();
  machine.vcs = std::max(vcs_needed(routing, *topology), 2);
  machine.buffer = machine.mtu * 4;
  const auto policy = make_policy(routing, *topology, machine.vcs);
  run_load<Permutations>(state, *topology, **policy, machine, {8, 4, 1});
}

void build(benchmark::State& state, const std::string& torus) {
  for (auto _ : state) {
    Result<Topology> topology = make_topology(torus);
    auto policy = make_policy("dor", *topology, 2);
    Bruck load(topology->graph.node_count(), 0, Bytes{0});
    auto network = Network::make(*topology, nsim_torus(), **policy, load, {});
    benchmark::DoNotOptimize(network);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["peak_rss_mb"] = static_cast<double>(usage.ru_maxrss) / 1024;
  }
}

void register_all() {
  const auto once = [](benchmark::internal::Benchmark* b) {
    b->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
  };
  const std::string small = "torus:16x16x16", large = "torus:64x32x32";
  once(benchmark::RegisterBenchmark("build/65536", build, large));
  // Small enough to be counted by callgrind.
  once(benchmark::RegisterBenchmark("bruck/512", packet_hops<Bruck>, "torus:8x8x8", 9, 8, 1));
  // Ten times as long: the time to touch memory first, a fifth of the above, no longer counts.
  once(benchmark::RegisterBenchmark("bruck/512/long", packet_hops<Bruck>, "torus:8x8x8", 90, 8, 1));
  once(benchmark::RegisterBenchmark("permutation/512", packet_hops<Permutations>, "torus:8x8x8", 16,
                                    4, 1));
  once(benchmark::RegisterBenchmark("adaptive/torus/64", adaptive, "torus:4x4x4", "min-adaptive"));
  once(benchmark::RegisterBenchmark("adaptive/fattree/64", adaptive, "fattree:radix=16,levels=2",
                                    "adaptive-up"));
  once(benchmark::RegisterBenchmark("adaptive/crossline/64", adaptive, "mesh:8x8", "crossline"));
  for (const int workers : {1, 2}) {
    const std::string w = "/workers:" + std::to_string(workers);
    once(benchmark::RegisterBenchmark(("bruck/4096" + w).c_str(), packet_hops<Bruck>, small, 12, 32,
                                      workers));
    once(benchmark::RegisterBenchmark(("bruck/65536" + w).c_str(), packet_hops<Bruck>, large, 16,
                                      16, workers));
    for (const int packets : {1, 4, 32}) {
      const std::string name = "permutation/4096/packets:" + std::to_string(packets) + w;
      once(benchmark::RegisterBenchmark(name.c_str(), packet_hops<Permutations>, small,
                                        128 / packets, packets, workers));
    }
    once(benchmark::RegisterBenchmark(("permutation/65536/packets:4" + w).c_str(),
                                      packet_hops<Permutations>, large, 4, 4, workers));
    once(benchmark::RegisterBenchmark(("uniform/4096/packets:4" + w).c_str(), packet_hops<Uniform>,
                                      small, 32, 4, workers));
  }
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  weft::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
