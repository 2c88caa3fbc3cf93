// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/sweep.hpp"

#include <gtest/gtest.h>

#include <weft/study/traffic/report.hpp>
#include <weft/study/traffic/test_processes.hpp>
#include <weft/study/traffic/test_scenario.hpp>
#include <weft/study/traffic/variation.hpp>

namespace weft {
namespace {

std::vector<Scenario> two() {
  auto scenarios = make_scenarios(test_request({"net=mesh:4x4", "packet=8", "vcs=2"}),
                                  {{"routing", {"dor", "xy-yx"}}});
  EXPECT_TRUE(scenarios);
  return *std::move(scenarios);
}

TEST(Sweep, SameBytesForAnyNumberOfJobsAndWorkers) {
  const auto scenarios = two();
  const auto loads = *parse_loads("0.1:0.9:0.1");
  const auto csv = [&](int jobs, int workers) {
    SweepSettings settings;
    settings.jobs = jobs;
    settings.workers = workers;
    return sweep_csv(run_sweep(scenarios, loads, settings, {}));
  };
  const std::string one = csv(1, 1);
  EXPECT_EQ(one, csv(4, 1));
  EXPECT_EQ(one, csv(3, 2));
}

TEST(Sweep, SameBytesAmongProcessesWorkers) {
  const auto scenarios = two();
  const auto loads = *parse_loads("0.1:0.9:0.2");
  SweepSettings settings;
  settings.phases.warmup_cycles = settings.phases.measure_cycles = 500;
  settings.search.tolerance = 0.2;
  const std::string curves = sweep_json(run_sweep(scenarios, loads, settings, {}));
  const std::string searched = sweep_json(search_saturation(scenarios, settings, {}));
  for (const int processes : {2, 3}) {
    const auto results = among(processes, [&](ProcessGroup& peers) {
      SweepSettings own = settings;
      own.peers = &peers;
      return std::pair{sweep_json(run_sweep(scenarios, loads, own, {})),
                       sweep_json(search_saturation(scenarios, own, {}))};
    });
    for (const auto& [curves_there, searched_there] : results) {
      EXPECT_EQ(curves_there, curves);
      EXPECT_EQ(searched_there, searched);
    }
  }
}

TEST(Sweep, OneProcessThatIsAskedStopsAllWorkers) {
  const auto scenarios = two();
  const auto loads = *parse_loads("0.1:0.9:0.1");
  const auto results = among(3, [&](ProcessGroup& peers) {
    std::atomic<bool> stop{false};
    SweepControl control{.stop = &stop, .progress = {}};
    if (peers.self() == 2)
      control.progress = [&](const SweepNews& news) { stop = news.points_done >= 3; };
    SweepSettings settings;
    settings.peers = &peers;
    const Sweep sweep = run_sweep(scenarios, loads, settings, control);
    EXPECT_TRUE(sweep.stopped);
    EXPECT_FALSE(sweep.failure);
    return sweep_json(sweep);
  });
  for (const std::string& text : results) EXPECT_EQ(text, results[0]);
}

TEST(Sweep, EndsWithTheSecondSaturatedPoint) {
  const auto scenarios = two();
  SweepSettings settings;
  settings.jobs = 4;
  const auto loads = *parse_loads("0.9,0.1:0.9:0.1");
  const Sweep sweep = run_sweep(scenarios, loads, settings, {});
  ASSERT_EQ(sweep.curves.size(), 2u);
  for (const Curve& curve : sweep.curves) {
    ASSERT_GE(curve.points.size(), 3u);
    ASSERT_LT(curve.points.size(), 9u);
    int saturated = 0;
    for (const Point& p : curve.points) saturated += p.state == PointState::saturated ? 1 : 0;
    EXPECT_EQ(saturated, 2);
    EXPECT_EQ(curve.points.back().state, PointState::saturated);
  }
  settings.all = true;
  for (const Curve& curve : run_sweep(scenarios, loads, settings, {}).curves)
    EXPECT_EQ(curve.points.size(), 9u);
}

TEST(Sweep, LatencyRisesWithLoad) {
  const auto scenarios = two();
  const Sweep sweep = run_sweep(scenarios, *parse_loads("5%,20%,40%"), {}, {});
  for (const Curve& curve : sweep.curves) {
    EXPECT_EQ(curve.capacity, 1);
    ASSERT_EQ(curve.points.size(), 3u);
    EXPECT_GT(curve.points[0].latency(), curve.zero.latency_cycles * 0.99);
    EXPECT_LT(curve.points[0].latency(), curve.points[1].latency());
    EXPECT_LT(curve.points[1].latency(), curve.points[2].latency());
  }
}

TEST(Sweep, SaturationIsBracketed) {
  const auto scenarios = two();
  SweepSettings settings;
  settings.jobs = 2;
  const Sweep sweep = search_saturation(scenarios, settings, {});
  ASSERT_FALSE(sweep.failure);
  for (const Curve& curve : sweep.curves) {
    ASSERT_TRUE(curve.saturation);
    const Saturation& s = *curve.saturation;
    EXPECT_GT(s.load.stable, 0.1);
    EXPECT_LT(s.load.stable, s.load.unstable);
    EXPECT_LE(s.load.unstable, s.load.stable * 1.021);
    EXPECT_GT(s.peak_accepted, 0.9 * s.load.stable);
    for (const Point& p : curve.points) {
      if (p.load != s.load.stable) continue;
      EXPECT_LE(p.latency(), 3 * curve.zero.latency_cycles);
    }
  }
}

TEST(Sweep, ImpossibleLoadFailsBeforeAnythingRuns) {
  const std::vector<Scenario> scenarios = {test_scenario({"net=mesh:4x4", "packet=1"})};
  const Sweep sweep = run_sweep(scenarios, *parse_loads("0.1,1.5"), {}, {});
  ASSERT_TRUE(sweep.failure);
  EXPECT_EQ(sweep.failure->broken(), Broken::call);
  EXPECT_TRUE(sweep.curves[0].points.empty());
}

TEST(Sweep, StoppedAtOnceHasNoPoints) {
  const auto scenarios = two();
  std::atomic<bool> stop{true};
  const Sweep sweep =
      run_sweep(scenarios, *parse_loads("0.1"), {}, {.stop = &stop, .progress = {}});
  EXPECT_TRUE(sweep.stopped);
  EXPECT_TRUE(sweep.curves[0].points.empty());
}

}  // namespace
}  // namespace weft
