// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <weft/parallel/des/windows.hpp>
#include <weft/parallel/processes/agree.hpp>

namespace weft {
namespace {

// Far beyond any latency worth reporting, and soon reached by a queue that grows without end.
constexpr double latency_limit_factor = 20;
constexpr std::size_t saturated_points_kept = 2;
// Beyond saturation, for the peak of what is accepted; and all that nodes can send.
constexpr double overload_factors[] = {1.1, 1.5};
constexpr double overload_all = 1;
// The typical number of points in a search, for the progress meter alone.
constexpr double search_points = 14;

// Runs tasks in parallel. If several fail, keeps the error of the one with the lowest number.
class TaskRunner {
 public:
  TaskRunner(const SweepSettings& settings, const SweepControl& control)
      : jobs_(settings.peers != nullptr ? 1 : settings.jobs),
        peers_(settings.peers),
        control_(control),
        stop_(control.stop, settings.peers) {}

  // Calls task(i) for i in [0, count), in this order. Returns early after a failure or a stop.
  template <typename Task>
  void run(std::size_t count, Task&& task) {
    std::atomic<std::size_t> next{0};
    const int threads = static_cast<int>(
        std::min<std::size_t>(count, static_cast<std::size_t>(std::max(1, jobs_))));
    if (threads == 0) return;
    run_workers(threads, [&](int) {
      for (;;) {
        const std::size_t i = next.fetch_add(1);
        if (i >= count || ended()) return;
        try {
          if (Status done = task(i); !done) fail(i, std::move(done).error());
        } catch (...) {
          failed_.store(true);
          throw;
        }
      }
    });
  }
  // Calls that all processes make, in the same order.
  bool stopped() const { return stop_.raised(); }
  bool ended() const { return failed_.load() || stopped(); }

  ProcessGroup* peers() const { return peers_; }
  const StopSign& stop_sign() const { return stop_; }
  const std::atomic<bool>* stop() const { return control_.stop; }
  double clock_s() const { return control_.clock_s ? control_.clock_s() : 0; }
  std::optional<Error> take_failure() { return std::move(failure_); }

  // Each task reports how far it is; the meter shows the sum.
  void expect(double tasks) { expected_ = tasks; }
  void report(double& mine, double share, const std::string& what) {
    if (!control_.progress) return;
    const std::lock_guard lock(mutex_);
    done_ += share - std::exchange(mine, share);
    control_.progress({std::clamp(done_ / expected_, 0.0, 0.999), what, points_});
  }
  void count_point() {
    const std::lock_guard lock(mutex_);
    ++points_;
  }

  void fail(std::size_t i, Error error) {
    const std::lock_guard lock(mutex_);
    if (failure_ && failed_task_ < i) return;
    failed_task_ = i;
    failure_ = std::move(error);
    failed_.store(true);
  }

 private:
  const int jobs_;
  ProcessGroup* const peers_;
  const SweepControl& control_;
  const StopSign stop_;
  std::mutex mutex_;
  std::atomic<bool> failed_{false};
  std::size_t failed_task_ = 0;
  std::optional<Error> failure_;
  double expected_ = 1, done_ = 0;
  std::size_t points_ = 0;
};

std::vector<Curve> make_curves(const std::vector<Scenario>& scenarios) {
  std::vector<Curve> curves(scenarios.size());
  for (std::size_t c = 0; c < curves.size(); ++c) curves[c].scenario = &scenarios[c];
  return curves;
}

// A lone packet gains nothing from several processes, but several curves do: each process takes its
// share of them.
void deal_zero_loads(std::vector<Curve>& curves, TaskRunner& runner) {
  const auto self = static_cast<std::size_t>(runner.peers()->self());
  const auto processes = static_cast<std::size_t>(runner.peers()->count());
  Packer mine;
  for (std::size_t c = self; c < curves.size() && !runner.stop_sign().raised_here();
       c += processes) {
    const auto zero = zero_load_latency(*curves[c].scenario);
    mine.put(c);
    mine.put(zero.has_value());
    if (!zero) {
      pack_error(zero.error(), mine);
      break;
    }
    mine.put(*zero);
  }
  for (const PeerBytes& bytes : runner.peers()->all_gather(mine.take())) {
    Unpacker theirs(bytes);
    while (!theirs.empty()) {
      const auto c = theirs.take<std::size_t>();
      if (theirs.take<bool>())
        curves[c].zero = theirs.take<ZeroLoad>();
      else
        runner.fail(c, unpack_error(theirs));
    }
  }
}

void find_zero_loads(std::vector<Curve>& curves, TaskRunner& runner) {
  if (runner.peers() != nullptr) return deal_zero_loads(curves, runner);
  runner.run(curves.size(), [&](std::size_t c) -> Status {
    double mine = 0;
    runner.report(mine, 0, "zero load");
    auto zero = zero_load_latency(*curves[c].scenario);
    if (!zero) return std::move(zero).error();
    curves[c].zero = *zero;
    return {};
  });
}

Result<Point> run_point(const Curve& curve, double load, const SweepSettings& settings,
                        TaskRunner& runner, double limit_factor) {
  Experiment experiment{.scenario = curve.scenario,
                        .load = load,
                        .phases = settings.phases,
                        .workers = settings.workers,
                        .cut = settings.cut,
                        .peers = settings.peers};
  experiment.phases.idle_latency_cycles = curve.zero.latency_cycles;
  if (experiment.phases.latency_limit_cycles == 0)
    experiment.phases.latency_limit_cycles = limit_factor * curve.zero.latency_cycles;
  double mine = 0;
  const std::string what = fmt::format("{} at load {:.4g}", curve.scenario->label, load);
  runner.report(mine, 0, what);
  Control control{.stop = runner.stop(),
                  .progress = [&](double share) { runner.report(mine, share, what); }};
  const double begin = runner.clock_s();
  auto point = run_experiment(experiment, control);
  if (!point) return point;
  point->wall_s = runner.clock_s() - begin;
  runner.count_point();
  return point;
}

struct Task {
  std::size_t curve = 0;
  double load = 0;
  std::unique_ptr<Point> point;  // Null until it has been run.
};

// Loads of all curves, the lowest of each first: what is cheap and sure to be wanted.
Result<std::vector<Task>> make_tasks(std::vector<Curve>& curves, const std::vector<Load>& loads) {
  std::vector<Task> tasks;
  const bool shares = std::any_of(loads.begin(), loads.end(), [](const Load& load) {
    return load.unit == Load::Unit::capacity;
  });
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const Scenario& scenario = *curves[c].scenario;
    LoadScale scale{.cycle = scenario.cycle(), .flit = scenario.hardware.flit};
    if (shares) {
      auto capacity = uniform_capacity(*scenario.topology);
      if (!capacity) return std::move(capacity).error();
      scale.capacity = curves[c].capacity = *capacity;
    }
    std::vector<double> values;
    for (const Load& load : loads) values.push_back(in_flits(load, scale));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (const double value : values) {
      // Before anything runs: no point in finding out after an hour that a load cannot be made.
      auto injection = Injection::make(scenario.injection, value / scenario.sizes.mean());
      if (!injection)
        return Error::call(fmt::format("load {:.6g}: {}", value, injection.error().message()));
      tasks.push_back({c, value, {}});
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const Task& a, const Task& b) { return a.load < b.load; });
  return tasks;
}

// Has this curve shown enough saturated points below this load? Asked with the lock held.
bool beyond_the_end(const std::vector<Task>& tasks, std::size_t i) {
  std::size_t saturated = 0;
  for (std::size_t k = 0; k < i; ++k)
    if (tasks[k].curve == tasks[i].curve && tasks[k].point &&
        tasks[k].point->state == PointState::saturated)
      ++saturated;
  return saturated >= saturated_points_kept;
}

void collect(std::vector<Task>& tasks, bool all, std::vector<Curve>& curves) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    // Points that ran ahead of the end are dropped: with fewer jobs they would not have been run.
    if (!tasks[i].point || (!all && beyond_the_end(tasks, i))) continue;
    curves[tasks[i].curve].points.push_back(*tasks[i].point);
  }
}

class Search {
 public:
  Search(Curve& curve, const SweepSettings& settings, TaskRunner& runner)
      : curve_(curve), settings_(settings), runner_(runner) {}

  Status run() {
    auto bracket = find_saturation(limited(), [&](double load) { return carries(load); });
    Status done;
    if (bracket) done = overload(bracket->unstable);
    sort_points();
    // A curve that was interrupted, or ended because another one failed, has no error of its own.
    if (!bracket && !interrupted_) return std::move(bracket).error();
    if (!bracket || !done) return done;
    if (runner_.ended()) return {};
    Saturation found{.load = *bracket};
    for (const Point& point : curve_.points) {
      if (point.accepted <= found.peak_accepted) continue;
      found.peak_accepted = point.accepted;
      found.peak_at_load = point.load;
    }
    curve_.saturation = found;
    return {};
  }

 private:
  // Up to what the injection can make: bursts have silent cycles, and none starts two at once.
  SearchSettings limited() const {
    const Scenario& scenario = *curve_.scenario;
    SearchSettings search = settings_.search;
    while (search.highest > 2 * search.lowest &&
           !Injection::make(scenario.injection, search.highest / scenario.sizes.mean()))
      search.highest *= 0.95;
    search.start = std::min(search.start, search.highest);
    return search;
  }
  Result<bool> carries(double load) {
    if (runner_.ended()) return interrupt();
    auto point = run_point(curve_, load, settings_, runner_, 4 * settings_.factor);
    if (!point) return std::move(point).error();
    const Point& p = *point;
    curve_.points.push_back(p);
    if (p.state == PointState::stopped) return interrupt();
    return p.state == PointState::steady &&
           p.latency() <= settings_.factor * curve_.zero.latency_cycles;
  }
  Error interrupt() {
    interrupted_ = true;
    return Error::run("interrupted");
  }
  Status overload(double unstable) {
    if (unstable == 0) return {};
    std::vector<double> loads;
    const double most = limited().highest;
    for (const double factor : overload_factors)
      loads.push_back(std::min(most, std::floor(unstable * factor * 1e6 + 0.5) / 1e6));
    loads.push_back(std::min(most, overload_all));
    for (const double load : loads) {
      const bool known = std::any_of(curve_.points.begin(), curve_.points.end(),
                                     [&](const Point& p) { return p.load == load; });
      if (known || runner_.ended()) continue;
      auto point = run_point(curve_, load, settings_, runner_, 4 * settings_.factor);
      if (!point) return std::move(point).error();
      curve_.points.push_back(*point);
    }
    return {};
  }
  void sort_points() {
    std::stable_sort(curve_.points.begin(), curve_.points.end(),
                     [](const Point& a, const Point& b) { return a.load < b.load; });
  }

  Curve& curve_;
  const SweepSettings& settings_;
  TaskRunner& runner_;
  bool interrupted_ = false;
};

}  // namespace

Sweep run_sweep(const std::vector<Scenario>& scenarios, const std::vector<Load>& loads,
                const SweepSettings& settings, const SweepControl& control) {
  Sweep sweep;
  TaskRunner runner(settings, control);
  sweep.curves = make_curves(scenarios);
  auto tasks = make_tasks(sweep.curves, loads);
  if (!tasks) {
    sweep.failure = std::move(tasks).error();
    return sweep;
  }
  find_zero_loads(sweep.curves, runner);
  runner.expect(static_cast<double>(tasks->size()));
  std::mutex mutex;
  if (!runner.ended())
    runner.run(tasks->size(), [&](std::size_t i) -> Status {
      Task& task = (*tasks)[i];
      {
        const std::lock_guard lock(mutex);
        if (!settings.all && beyond_the_end(*tasks, i)) return {};
      }
      auto point =
          run_point(sweep.curves[task.curve], task.load, settings, runner, latency_limit_factor);
      if (!point) return std::move(point).error();
      const std::lock_guard lock(mutex);
      task.point = std::make_unique<Point>(*std::move(point));
      return {};
    });
  collect(*tasks, settings.all, sweep.curves);
  sweep.failure = runner.take_failure();
  sweep.stopped = runner.stopped();
  return sweep;
}

Sweep search_saturation(const std::vector<Scenario>& scenarios, const SweepSettings& settings,
                        const SweepControl& control) {
  Sweep sweep;
  TaskRunner runner(settings, control);
  sweep.curves = make_curves(scenarios);
  find_zero_loads(sweep.curves, runner);
  runner.expect(search_points * static_cast<double>(scenarios.size()));
  if (!runner.ended())
    runner.run(sweep.curves.size(),
               [&](std::size_t c) { return Search(sweep.curves[c], settings, runner).run(); });
  sweep.failure = runner.take_failure();
  sweep.stopped = runner.stopped();
  return sweep;
}

}  // namespace weft
