// SPDX-License-Identifier: Apache-2.0
// --model flit against the plain flit-level router of these tests, where both describe the same
// router: every packet arrives in the same cycle.
#include <string>
#include <vector>

#include "tests/cross/flits.hpp"
#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/simulate/models/network_model.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft::test {
namespace {

struct Machine {
  std::string net, routing;
  int vcs, packet, buffer;
  bool wait_for_tail, hold_switch;
};

class Arrivals final : public Host {
 public:
  explicit Arrivals(std::size_t count) : cycles(count, -1) {}
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery& d) override {
    cycles[d.cookie] = d.arrived.in_ps() / Duration::ns(1).in_ps();
  }
  std::vector<std::int64_t> cycles;
};

Result<Scenario> scenario_for(const Machine& m) {
  ScenarioRequest request;
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"net", m.net},
           {"profile", "textbook"},
           {"routing", m.routing},
           {"vcs", std::to_string(m.vcs)},
           {"packet", std::to_string(m.packet)},
           {"buffer", std::to_string(m.buffer)},
           {"arbitration", "round-robin"},
           {"release", "head"},
           {"model", "flit"},
           // The plain router's sources are a cycle away.
           {"nic.inject_delay", "0 ns"},
           {"flit_router.requests", "all"},
           {"flit_router.hold_switch", m.hold_switch ? "true" : "false"},
           {"flit_router.flow_control", m.wait_for_tail ? "cut-through" : "wormhole"}}) {
    if (Status s = request.set(key, value); !s) return std::move(s).error();
  }
  return make_scenario(request);
}

// In bursts, some of which are more than the network carries.
std::vector<FlitSend> draw_sends(const Scenario& scenario, const Machine& m, Rng& rng) {
  const std::uint32_t nodes = scenario.nodes();
  const Rng bits = Rng(1).stream("packet");
  std::vector<std::uint32_t> drawn(nodes, 0);
  std::vector<FlitSend> sends;
  std::int64_t now = 0;
  for (int burst = 0; burst < 12; ++burst) {
    const double load = 0.02 + 0.6 * static_cast<double>(rng.below(100)) / 100;
    const auto cycles = static_cast<std::int64_t>(rng.below(400));
    for (const std::int64_t end = now + cycles; now < end; ++now) {
      for (std::uint32_t n = 0; n < nodes; ++n) {
        if (static_cast<double>(rng.below(1'000'000)) >= 1e6 * load / m.packet) continue;
        const auto to = static_cast<std::uint32_t>(rng.below(nodes));
        sends.push_back({now, n, to, bits.at((std::uint64_t{n} << 32) | drawn[n]++)});
      }
    }
    now += static_cast<std::int64_t>(rng.below(3000));
  }
  return sends;
}

class Oracle : public testing::TestWithParam<Machine> {};

TEST_P(Oracle, EveryPacketArrivesInTheSameCycle) {
  const Machine& m = GetParam();
  const Result<Scenario> scenario = scenario_for(m);
  ASSERT_TRUE(scenario) << scenario.error().text();
  SCOPED_TRACE(replay_text(test_seed()));
  Rng rng(test_seed());
  const std::vector<FlitSend> sends = draw_sends(*scenario, m, rng);
  ASSERT_GT(sends.size(), 100u);
  Arrivals arrivals(sends.size());
  auto network = make_network(scenario->model, *scenario->topology, scenario->hardware,
                              *scenario->policy, arrivals, {.seed = 1, .workers = 1, .window = {}});
  ASSERT_TRUE(network) << network.error().text();
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Time at = Time::zero() + Duration::ns(sends[i].at);
    (*network)->send(NodeId(sends[i].from), NodeId(sends[i].to), scenario->packet_size(m.packet),
                     at, i);
  }
  ASSERT_TRUE((*network)->run(Time::never()));
  const std::vector<std::int64_t> plain =
      run_flit_sends(*scenario, {m.vcs, m.packet, m.buffer, m.wait_for_tail, m.hold_switch}, sends);
  for (std::size_t i = 0; i < sends.size(); ++i)
    ASSERT_EQ(arrivals.cycles[i], plain[i]) << "packet " << i << " of " << sends.size();
}

INSTANTIATE_TEST_SUITE_P(Routers, Oracle,
                         testing::Values(Machine{"mesh:4x4", "dor", 1, 8, 8, true, false},
                                         Machine{"mesh:4x4", "dor", 2, 8, 8, true, false},
                                         Machine{"mesh:5x3", "dor", 4, 1, 8, false, false},
                                         Machine{"mesh:4x4", "dor", 2, 8, 16, false, false},
                                         Machine{"mesh:4x4", "dor", 3, 8, 8, true, true},
                                         Machine{"mesh:4x4", "dor", 2, 8, 11, false, true},
                                         Machine{"mesh:4x4", "xy-yx", 4, 5, 5, true, false},
                                         Machine{"torus:4x4", "dor", 2, 8, 8, true, false},
                                         Machine{"torus:5x4", "dor", 6, 4, 9, false, false},
                                         Machine{"torus:4x4", "valiant", 4, 8, 8, true, false},
                                         Machine{"torus:4x4", "dor", 32, 3, 4, false, false}));

}  // namespace
}  // namespace weft::test
