// SPDX-License-Identifier: Apache-2.0
// Many points: one curve per scenario over a list of loads, or the search for each one's
// saturation. Points are independent and run side by side; the results do not show in which order.
// Several processes all make the same sweep, point by point, and come to the same results.
#pragma once  // Public, for experiments: stays within 0.1; results may get fields.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/study/traffic/experiment.hpp>
#include <weft/study/traffic/load.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft {

struct SweepSettings {
  Phases phases;
  int jobs = 1;              // Points at the same time.
  int workers = 1;           // Threads inside one of them.
  Cut cut = Cut::automatic;  // Which worker has which routers.
  ProcessGroup* peers =
      nullptr;       // The processes that share each point; jobs and workers are then 1.
  bool all = false;  // Otherwise a curve ends with its second saturated point.
  // A network carries a load if its mean latency is at most `factor` times that of zero load.
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
  double capacity = 0;        // Capacity for uniform traffic, where a load is given in it.
  std::vector<Point> points;  // By load.
  std::optional<Saturation> saturation;
};

struct Sweep {
  std::vector<Curve> curves;     // As the scenarios.
  std::optional<Error> failure;  // What ended it early; the curves hold what was done before.
  bool stopped = false;
};

struct SweepNews {
  double share = 0;  // Share of the sweep that is done.
  std::string what;  // Is being done.
  std::size_t points_done = 0;
};

struct SweepControl {
  const std::atomic<bool>* stop = nullptr;              // Set, in any process: end soon.
  std::function<void(const SweepNews& news)> progress;  // Called by one thread at a time.
  std::function<double()> clock_s = {};  // For Point::wall_s, called by any thread; may be empty.
};

// The scenarios outlive the sweep.
Sweep run_sweep(const std::vector<Scenario>& scenarios, const std::vector<Load>& loads,
                const SweepSettings& settings, const SweepControl& control);
// As above, by search; every load that was tried becomes a point.
Sweep search_saturation(const std::vector<Scenario>& scenarios, const SweepSettings& settings,
                        const SweepControl& control);

}  // namespace weft
