// SPDX-License-Identifier: Apache-2.0
// What it costs to go from one rank to the next: into a fiber and out of it again is two switches.
// With many fibers their stacks no longer fit into the cache, which is how a simulation finds them.
//   bench/fiber_switch --benchmark_format=json
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include <weft/parallel/fiber/fiber.hpp>

namespace weft {
namespace {

struct Endless {
  static void run(void* self) {
    for (;;) static_cast<Endless*>(self)->fiber->pause();
  }
  std::unique_ptr<Fiber> fiber;
};

void switches(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  auto stacks = Stacks::make(count, std::size_t{64} << 10);
  if (!stacks) {
    state.SkipWithError("no memory for stacks");
    return;
  }
  std::vector<Endless> all(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    all[i].fiber =
        std::make_unique<Fiber>((*stacks)->low(i), (*stacks)->size(), Endless::run, &all[i]);
    all[i].fiber->resume();
  }
  std::size_t next = 0;
  for (auto _ : state) {
    all[next].fiber->resume();
    next = next + 1 == count ? 0 : next + 1;
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(switches)->Arg(1)->Arg(64)->Arg(4096);

}  // namespace
}  // namespace weft

BENCHMARK_MAIN();
