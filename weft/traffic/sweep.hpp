// SPDX-License-Identifier: Apache-2.0
// Many points: one curve per scenario over a list of loads, or the search for each one's
// saturation. Points are independent and run side by side; the results do not show in which order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/traffic/experiment.hpp>
#include <weft/traffic/load.hpp>
#include <weft/traffic/saturation.hpp>
#include <weft/traffic/scenario.hpp>
#include <weft/traffic/zero_load.hpp>

namespace weft {

struct SweepSettings {
  Phases phases;
  int jobs = 1;      // Points at the same time.
  int workers = 1;   // Threads inside one of them.
  bool all = false;  // Otherwise a curve ends with its second saturated point.
  // A network carries a load when its mean latency is at most so many times that of zero load.
  double factor = 3;
  SearchSettings search;
};

struct Saturation {
  Bracket load;              // Flits per node and cycle.
  double peak_accepted = 0;  // The most that any point accepted, overload included.
  double peak_at_load = 0;
};

struct Curve {
  const Scenario* scenario = nullptr;
  ZeroLoad zero;
  double capacity = 0;        // Of uniform traffic, where a load asked for it.
  std::vector<Point> points;  // By load.
  std::optional<Saturation> saturation;
};

struct Sweep {
  std::vector<Curve> curves;     // As the scenarios.
  std::optional<Error> failure;  // What ended it early; the curves hold what was done before.
  bool stopped = false;
};

struct SweepControl {
  const std::atomic<bool>* stop = nullptr;
  // Called by one thread at a time. Share of the whole, and what is being done.
  std::function<void(double share, const std::string& what)> progress;
};

// The scenarios outlive the sweep.
Sweep run_sweep(const std::vector<Scenario>& scenarios, const std::vector<Load>& loads,
                const SweepSettings& settings, const SweepControl& control);
// As above, by search; every load that was tried becomes a point.
Sweep search_saturation(const std::vector<Scenario>& scenarios, const SweepSettings& settings,
                        const SweepControl& control);

}  // namespace weft
