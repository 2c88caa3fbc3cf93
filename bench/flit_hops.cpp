// SPDX-License-Identifier: Apache-2.0
// Flit-hops per second of the flit model on one core: meshes at about half of the load that they
// carry under uniform traffic, in packets of one, eight and 32 flits over four VCs.
//   bench/flit_hops --benchmark_format=json
// A hop is a flit that passes a link between routers.
#include <algorithm>
#include <cstdint>
#include <string>

#include "bench/closed_loop.hpp"
#include <benchmark/benchmark.h>

#include <weft/network/route/policy.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/simulate/flits/flit_network.hpp>

namespace weft {
namespace {

struct Load {
  std::string net;
  int packet = 1;          // Flits.
  std::int64_t every = 1;  // Cycles between packets of a node.
};

double flits_passed(const Network& network, const Graph& graph, Bytes flit) {
  std::uint64_t bytes = 0;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) bytes += network.link(LinkId(l)).bytes;
  return static_cast<double>(bytes) / static_cast<double>(flit.count);
}

void flit_hops(benchmark::State& state, const Load& shape) {
  const Topology topology = *make_topology(shape.net);
  NetworkHardware machine;
  machine.vcs = 4;
  machine.mtu = machine.flit * shape.packet;
  machine.buffer = machine.flit * std::max(shape.packet, 8);
  machine.release = Release::head;
  const auto policy = *make_policy("dor", topology, machine.vcs);
  const std::uint32_t nodes = topology.graph.node_count();
  const auto messages = static_cast<int>(40'000 / shape.every);
  for (auto _ : state) {
    state.PauseTiming();
    bench::OpenLoop load(nodes, messages, machine.mtu, Duration::ns(shape.every));
    const auto network = *make_flit_network(topology, machine, *policy, load, {});
    load.start(*network);
    state.ResumeTiming();
    benchmark::DoNotOptimize(network->run(Time::never()));
    const double hops = flits_passed(*network, topology.graph, machine.flit);
    state.counters["hops"] = hops;
    state.counters["checksum"] = load.checksum();
    state.counters["hops_per_s"] = benchmark::Counter(hops, benchmark::Counter::kIsRate);
    state.counters["hops_per_visit"] = hops / static_cast<double>(network->counts().visits);
  }
}

BENCHMARK_CAPTURE(flit_hops, mesh_8x8_1, Load{"mesh:8x8", 1, 5})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flit_hops, mesh_8x8_8, Load{"mesh:8x8", 8, 40})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flit_hops, mesh_8x8_32, Load{"mesh:8x8", 32, 160})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flit_hops, mesh_16x16_1, Load{"mesh:16x16", 1, 10})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flit_hops, mesh_16x16_8, Load{"mesh:16x16", 8, 80})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flit_hops, mesh_16x16_32, Load{"mesh:16x16", 32, 320})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft

BENCHMARK_MAIN();
