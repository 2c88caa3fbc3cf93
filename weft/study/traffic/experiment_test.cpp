// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/experiment.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <weft/study/traffic/test_processes.hpp>
#include <weft/study/traffic/test_scenario.hpp>

namespace weft {
namespace {

Point run(const Scenario& scenario, double load, Phases phases = {}, int workers = 1) {
  auto point = run_experiment(
      {.scenario = &scenario, .load = load, .phases = phases, .workers = workers}, {});
  EXPECT_TRUE(point) << point.error().text();
  return *std::move(point);
}

Phases fixed(std::int64_t warmup, std::int64_t measure) {
  Phases phases;
  phases.warmup_cycles = warmup;
  phases.measure_cycles = measure;
  return phases;
}

// Two nodes that send to each other, one packet every 100 cycles: nothing ever waits, so every
// packet takes 5 H + 6 + L cycles, with H = 1 link and L = 8 flits.
TEST(Experiment, TwoNodesHaveTheClosedForm) {
  const Scenario scenario =
      test_scenario({"net=mesh:2", "packet=8", "pattern=bitcomp", "injection=periodic"});
  const Point p = run(scenario, 0.08, fixed(1000, 10'000));
  EXPECT_EQ(p.state, PointState::steady);
  EXPECT_EQ(p.packets.born, 200u);
  EXPECT_EQ(p.latency(), 5 + 6 + 8);
  EXPECT_EQ(p.packets.latency_ps.min(), p.packets.latency_ps.max());
  EXPECT_EQ(p.packets.hops.mean(), 1);
  EXPECT_EQ(p.offered, 0.08);
  EXPECT_NEAR(p.accepted, 0.08, 0.08 / 100);
  EXPECT_NEAR(p.link_utilisation_max, 0.08, 0.001);
  EXPECT_NEAR(p.link_utilisation_mean, 0.08, 0.001);
  EXPECT_EQ(p.measured_cycles, 10'000);
  EXPECT_EQ(p.warmup_cycles, 1000);
}

TEST(Experiment, EveryPacketOfTheWindowIsCounted) {
  const Scenario scenario = test_scenario({"net=mesh:4x4", "packet=4"});
  const Point p = run(scenario, 0.1);
  EXPECT_EQ(p.state, PointState::steady);
  EXPECT_TRUE(p.converged);
  EXPECT_EQ(static_cast<std::uint64_t>(p.packets.latency_ps.count()), p.packets.born);
  EXPECT_NEAR(p.offered, 0.1, 0.005);
  EXPECT_NEAR(p.accepted, p.offered, 0.005);
  EXPECT_LE(p.accepted_worst, p.accepted);
  EXPECT_GE(p.latency(), p.network_latency());
}

TEST(Experiment, OverloadClaimsNoLatency) {
  const Scenario scenario = test_scenario({"net=mesh:4x4", "packet=16"});
  const Point p = run(scenario, 1);
  EXPECT_EQ(p.state, PointState::saturated);
  EXPECT_FALSE(p.claims_latency());
  EXPECT_LT(p.accepted, 0.9);
  EXPECT_GT(p.accepted, 0.2);
}

TEST(Experiment, LatencyLimitCountsAsOverload) {
  const Scenario scenario = test_scenario({"net=mesh:4x4", "packet=16"});
  Phases phases;
  phases.latency_limit_cycles = 10;
  EXPECT_EQ(run(scenario, 0.1, phases).state, PointState::saturated);
}

void expect_same(const Point& a, const Point& b) {
  EXPECT_EQ(a.load, b.load);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.converged, b.converged);
  EXPECT_EQ(a.offered, b.offered);
  EXPECT_EQ(a.accepted, b.accepted);
  EXPECT_EQ(a.packets.born, b.packets.born);
  EXPECT_EQ(a.packets.born_flits, b.packets.born_flits);
  EXPECT_EQ(a.packets.accepted_flits, b.packets.accepted_flits);
  EXPECT_EQ(a.packets.latency_ps, b.packets.latency_ps);
  EXPECT_EQ(a.packets.network_ps, b.packets.network_ps);
  EXPECT_EQ(a.packets.hops, b.packets.hops);
  EXPECT_EQ(a.packets.latencies_ps, b.packets.latencies_ps);
  EXPECT_EQ(a.accepted_worst, b.accepted_worst);
  EXPECT_EQ(a.worst_node, b.worst_node);
  EXPECT_EQ(a.link_utilisation_max, b.link_utilisation_max);
  EXPECT_EQ(a.link_utilisation_mean, b.link_utilisation_mean);
  EXPECT_EQ(a.busiest_link, b.busiest_link);
  EXPECT_EQ(a.cycle_ps, b.cycle_ps);
  EXPECT_EQ(a.warmup_cycles, b.warmup_cycles);
  EXPECT_EQ(a.measured_cycles, b.measured_cycles);
  EXPECT_EQ(a.drain_cycles, b.drain_cycles);
}

TEST(Experiment, SameBitsForAnyNumberOfWorkers) {
  for (const char* routing : {"routing=dor", "routing=min-adaptive", "routing=valiant"}) {
    const Scenario scenario = test_scenario(
        {"net=torus:4x4", "packet=1:0.5,12:0.5", routing, "vcs=8", "injection=bursty:0.02,0.05"});
    const Point one = run(scenario, 0.15, {}, 1);
    for (const int workers : {2, 4}) expect_same(one, run(scenario, 0.15, {}, workers));
  }
}

// All processes come to the point that one comes to alone.
void expect_same_among(int processes, const Scenario& scenario, double load, Phases phases = {}) {
  SCOPED_TRACE(scenario.label + " among " + std::to_string(processes));
  const Point alone = run(scenario, load, phases);
  for (const Cut cut : {Cut::automatic, Cut::ranges}) {
    const auto points = among(processes, [&](ProcessGroup& peers) {
      Experiment experiment{.scenario = &scenario, .load = load, .phases = phases};
      experiment.cut = cut;
      experiment.peers = &peers;
      auto point = run_experiment(experiment, {});
      EXPECT_TRUE(point) << point.error().text();
      return *std::move(point);
    });
    for (const Point& point : points) expect_same(alone, point);
  }
}

TEST(Experiment, SameBitsAmongProcessesOnATorusWorkers) {
  for (const char* routing : {"routing=dor", "routing=min-adaptive"}) {
    const Scenario scenario = test_scenario(
        {"net=torus:4x4", "packet=1:0.5,12:0.5", routing, "vcs=4", "injection=bursty:0.02,0.05"});
    for (const int processes : {1, 2, 3, 5}) expect_same_among(processes, scenario, 0.15);
  }
}

TEST(Experiment, SameBitsAmongProcessesOnOtherNetworksWorkers) {
  for (const char* net : {"net=fattree:k=2,levels=3", "net=dragonfly:a=4,h=2,p=2", "net=mesh:5x3"})
    for (const int processes : {2, 3})
      expect_same_among(processes, test_scenario({net, "packet=4"}), 0.2, fixed(300, 1000));
}

TEST(Experiment, SameOverloadAmongProcessesWorkers) {
  const Scenario scenario = test_scenario({"net=mesh:4x4", "packet=16"});
  for (const int processes : {2, 5}) expect_same_among(processes, scenario, 1);
}

// Two routers: three of the five processes have nothing.
TEST(Experiment, MoreProcessesThanRoutersWorkers) {
  expect_same_among(5, test_scenario({"net=mesh:2", "packet=8"}), 0.2, fixed(300, 1000));
}

TEST(Experiment, SeedMatters) {
  const Scenario a = test_scenario({"net=mesh:4x4", "packet=4", "seed=1"});
  const Scenario b = test_scenario({"net=mesh:4x4", "packet=4", "seed=2"});
  EXPECT_NE(run(a, 0.1).packets.latency_ps.sum(), run(b, 0.1).packets.latency_ps.sum());
}

TEST(Experiment, StopsWhenAsked) {
  const Scenario scenario = test_scenario({"net=mesh:4x4", "packet=4"});
  std::atomic<bool> stop{false};
  Control control{.stop = &stop, .progress = [&](double share) { stop = share > 0.5; }};
  const auto point = run_experiment(
      {.scenario = &scenario, .load = 0.1, .phases = fixed(2000, 100'000), .workers = 1}, control);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->state, PointState::stopped);
  EXPECT_FALSE(point->claims_latency());
  EXPECT_GT(point->measured_cycles, 10'000);
  EXPECT_LT(point->measured_cycles, 90'000);
}

TEST(Experiment, OneProcessThatIsAskedStopsAllWorkers) {
  const Scenario scenario = test_scenario({"net=mesh:4x4", "packet=4"});
  const auto points = among(3, [&](ProcessGroup& peers) {
    std::atomic<bool> stop{false};
    Control control{.stop = &stop, .progress = {}};
    if (peers.self() == 1) control.progress = [&](double share) { stop = share > 0.5; };
    Experiment experiment{.scenario = &scenario, .load = 0.1, .phases = fixed(2000, 100'000)};
    experiment.peers = &peers;
    auto point = run_experiment(experiment, control);
    EXPECT_TRUE(point) << point.error().text();
    return *std::move(point);
  });
  EXPECT_EQ(points[0].state, PointState::stopped);
  EXPECT_GT(points[0].measured_cycles, 10'000);
  EXPECT_LT(points[0].measured_cycles, 90'000);
  for (const Point& point : points) expect_same(points[0], point);
}

TEST(Experiment, LoadThatCannotBeMadeIsAnError) {
  const Scenario scenario = test_scenario({"net=mesh:4x4", "packet=1"});
  EXPECT_FALSE(
      run_experiment({.scenario = &scenario, .load = 1.5, .phases = {}, .workers = 1}, {}));
}

// Round a ring in one direction and one VC: the textbook deadlock.
class RoundAndRound final : public Policy {
 public:
  void next(RouterId here, const Flight& flight, const PortView&, Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    out.add({.port = 0, .vcs = 1, .state = flight.state});
  }
  PolicyFacts facts() const override { return {.hops_max = 5}; }
};

TEST(Experiment, DeadlockEndsTheRunAndNamesItsCircle) {
  Scenario scenario = test_scenario(
      {"net=ring:6", "packet=16", "pattern=uniform-others", "arbitration=round-robin"});
  scenario.policy = std::make_shared<RoundAndRound>();
  scenario.hardware.vcs = 1;
  for (const int workers : {1, 3}) {
    const auto point =
        run_experiment({.scenario = &scenario, .load = 1, .phases = {}, .workers = workers}, {});
    ASSERT_FALSE(point);
    EXPECT_EQ(point.error().broken(), Broken::run);
    EXPECT_NE(point.error().message().find("wait for each other"), std::string::npos)
        << point.error().message();
    EXPECT_NE(point.error().message().find("(0) from (5) VC 0"), std::string::npos)
        << point.error().message();
  }
}

TEST(Experiment, AllProcessesNameTheSameDeadlockWorkers) {
  Scenario scenario = test_scenario(
      {"net=ring:6", "packet=16", "pattern=uniform-others", "arbitration=round-robin"});
  scenario.policy = std::make_shared<RoundAndRound>();
  scenario.hardware.vcs = 1;
  Experiment experiment{.scenario = &scenario, .load = 1, .phases = {}};
  const auto alone = run_experiment(experiment, {});
  ASSERT_FALSE(alone);
  const auto texts = among(3, [&](ProcessGroup& peers) -> std::string {
    Experiment own = experiment;
    own.peers = &peers;
    const auto point = run_experiment(own, {});
    return point ? "no deadlock" : point.error().text();
  });
  for (const std::string& text : texts) EXPECT_EQ(text, alone.error().text());
}

}  // namespace
}  // namespace weft
