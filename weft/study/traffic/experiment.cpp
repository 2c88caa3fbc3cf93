// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <weft/parallel/processes/agree.hpp>
#include <weft/study/traffic/link_meter.hpp>

namespace weft {
namespace {

// A slice is the work between two looks at the stop flag; about a tenth of a second.
constexpr double slice_packets = 20'000;
constexpr double period_packets = 2000;
constexpr std::int64_t period_min = 1000, period_max = 1'000'000;
// Messages under way live in memory; beyond this a saturated network teaches nothing new.
constexpr std::uint64_t backlog_max = 16'000'000;
// A queue that keeps one packet in a hundred born is no fluctuation...
constexpr double growth_max = 0.01;
// ...unless there are so few of them that chance does it.
constexpr double growth_deviations = 3;
constexpr double warmup_tolerance = 0.05;
constexpr int agreements_needed = 3;
constexpr std::int64_t drain_windows = 4, drain_periods = 20;

bool agree(double before, double now, double tolerance) {
  return std::abs(now - before) <= tolerance * std::abs(now);
}

class Run {
 public:
  Run(const Experiment& experiment, const Control& control, const Injection& injection)
      : experiment_(experiment),
        phases_(experiment.phases),
        scenario_(*experiment.scenario),
        control_(control),
        cycle_(scenario_.cycle()),
        peers_(experiment.peers),
        workers_(peers_ != nullptr ? 1 : std::clamp(experiment.workers, 1, 63)),
        driver_(scenario_, injection, workers_),
        links_(scenario_) {
    choose_lengths();
  }

  Result<Point> all();

 private:
  void choose_lengths();
  Status warm_up();
  Status measure();
  Status drain();
  // Runs for `cycles` more; stops early when asked to.
  Status advance(std::int64_t cycles, bool measuring);
  Status advance_period(std::int64_t cycles, bool measuring);
  // Adds up what all processes have seen.
  void look();
  double take_recent_latency_ps();
  Status look_for_deadlock();
  void note_overload();
  bool queue_grew() const;
  double accepted() const;
  Point result();

  const Experiment& experiment_;
  const Phases& phases_;
  const Scenario& scenario_;
  const Control& control_;
  const Duration cycle_;
  ProcessGroup* const peers_;
  const int workers_;
  Driver driver_;
  LinkMeter links_;
  std::unique_ptr<Network> network_;
  Time now_;
  std::int64_t period_ = 0, slice_ = 0, expected_ = 1, done_ = 0;
  Totals totals_;  // Sums of all processes, at the end of the last slice.
  std::int64_t warmed_ = 0, measured_ = 0, drained_ = 0;
  std::uint64_t backlog_at_start_ = 0, backlog_at_end_ = 0;
  bool stopped_ = false, overloaded_ = false, converged_ = true, complete_ = false;
};

void Run::choose_lengths() {
  const double packets_per_cycle =
      experiment_.load / scenario_.sizes.mean() * static_cast<double>(scenario_.nodes());
  const auto bounded = [](double cycles, std::int64_t low, std::int64_t high) {
    return static_cast<std::int64_t>(
        std::clamp(cycles, static_cast<double>(low), static_cast<double>(high)));
  };
  const double wanted =
      std::max({period_packets / packets_per_cycle, 4 * phases_.idle_latency_cycles,
                10.0 * scenario_.sizes.largest()});
  period_ = phases_.period_cycles > 0 ? phases_.period_cycles
                                      : bounded(std::ceil(wanted), period_min, period_max);
  slice_ = bounded(slice_packets / packets_per_cycle, 16, period_);
  expected_ = phases_.fixed() ? phases_.warmup_cycles + phases_.measure_cycles
                              : period_ * (phases_.warmup_periods_min + 2 * phases_.samples_min);
}

Status Run::advance(std::int64_t cycles, bool measuring) {
  while (cycles > 0 && !stopped_) {
    const std::int64_t step = std::min(cycles, slice_);
    now_ = now_ + cycle_ * step;
    driver_.begin_slice(now_, measuring);
    if (auto ran = network_->run(now_); !ran) return std::move(ran).error();
    cycles -= step;
    done_ += step;
    (measuring ? measured_ : measured_ > 0 ? drained_ : warmed_) += step;
    look();
    if (totals_.backlog() > backlog_max) overloaded_ = true;
    if (control_.progress)
      control_.progress(
          std::min(0.95, static_cast<double>(done_) / static_cast<double>(expected_)));
  }
  return {};
}

void Run::look() {
  const bool asked = control_.stop != nullptr && control_.stop->load(std::memory_order_relaxed);
  Packer mine;
  mine.put(driver_.totals());
  mine.put(asked);
  totals_ = {};
  for (const PeerBytes& bytes : all_gather(peers_, mine.take())) {
    Unpacker theirs(bytes);
    totals_.merge(theirs.take<Totals>());
    if (theirs.take<bool>()) stopped_ = true;
  }
}

// Mean latency of what arrived since the last call, in ps; 0 when nothing did.
double Run::take_recent_latency_ps() {
  driver_.forget_recent();
  return std::exchange(totals_.recent_ps, {}).mean();
}

// As advance, and looks afterwards whether anything moved.
Status Run::advance_period(std::int64_t cycles, bool measuring) {
  const std::uint64_t before = totals_.arrived;
  if (Status s = advance(cycles, measuring); !s) return s;
  if (!stopped_ && totals_.arrived == before && totals_.born > before) return look_for_deadlock();
  return {};
}

Status Run::look_for_deadlock() {
  const std::string circle = network_->find_deadlock();
  if (circle.empty()) return {};
  return Error::run(
      fmt::format("deadlock at load {} under routing '{}' with {} VC{}, after {} cycles: {}",
                  experiment_.load, scenario_.routing, scenario_.hardware.vcs,
                  scenario_.hardware.vcs == 1 ? "" : "s", done_, circle));
}

void Run::note_overload() {
  const double recent = take_recent_latency_ps() / static_cast<double>(cycle_.in_ps());
  if (phases_.latency_limit_cycles > 0 && recent > phases_.latency_limit_cycles) overloaded_ = true;
}

Status Run::warm_up() {
  if (phases_.fixed()) {
    for (std::int64_t left = phases_.warmup_cycles; left > 0 && !stopped_; left -= period_)
      if (Status s = advance_period(std::min(left, period_), false); !s) return s;
    take_recent_latency_ps();
    return {};
  }
  double before = 0;
  for (int i = 1; i <= phases_.warmup_periods_max && !stopped_; ++i) {
    if (Status s = advance_period(period_, false); !s) return s;
    const double recent = take_recent_latency_ps();
    if (i < phases_.warmup_periods_min) {
      before = recent;
      continue;
    }
    const double limit = phases_.latency_limit_cycles * static_cast<double>(cycle_.in_ps());
    if (limit > 0 && recent > limit) overloaded_ = true;
    if (overloaded_ || agree(before, recent, warmup_tolerance)) break;
    before = recent;
  }
  return {};
}

double Run::accepted() const {
  return static_cast<double>(totals_.accepted_flits) /
         (static_cast<double>(scenario_.nodes()) * static_cast<double>(measured_));
}

Status Run::measure() {
  backlog_at_start_ = totals_.backlog();
  links_.begin(*network_, now_);
  const bool fixed = phases_.fixed();
  double latency_before = 0, accepted_before = 0;
  int agreements = 0;
  for (int i = 1; !stopped_; ++i) {
    const std::int64_t left = fixed ? phases_.measure_cycles - measured_ : period_;
    if (left <= 0 || (!fixed && i > phases_.samples_max)) break;
    if (Status s = advance_period(std::min(left, period_), true); !s) return s;
    note_overload();
    if (fixed) continue;
    const double latency = totals_.latency_ps.mean(), rate = accepted();
    // Under overload latency grows for ever; what is accepted still settles.
    const bool steady = (overloaded_ || agree(latency_before, latency, phases_.tolerance)) &&
                        agree(accepted_before, rate, phases_.tolerance);
    agreements = steady ? agreements + 1 : 0;
    latency_before = latency;
    accepted_before = rate;
    if (i >= phases_.samples_min && agreements >= agreements_needed) break;
  }
  if (!fixed && agreements < agreements_needed) converged_ = false;
  backlog_at_end_ = totals_.backlog();
  links_.end(*network_, now_);
  return {};
}

bool Run::queue_grew() const {
  const auto born = static_cast<double>(totals_.window_born);
  const double growth =
      static_cast<double>(backlog_at_end_) - static_cast<double>(backlog_at_start_);
  return growth > std::max(growth_max * born, growth_deviations * std::sqrt(born));
}

Status Run::drain() {
  if (queue_grew()) overloaded_ = true;
  if (overloaded_) return look_for_deadlock();
  const std::int64_t limit = drain_windows * measured_ + drain_periods * period_;
  // A long period would make the drain of a small network take most of the time.
  const auto step = std::max<std::int64_t>(
      16, std::min(period_, static_cast<std::int64_t>(phases_.idle_latency_cycles)));
  std::uint64_t arrived_before = totals_.arrived;
  std::int64_t checked_at = 0;
  while (!stopped_) {
    if (totals_.window_arrived() == totals_.window_born) {
      complete_ = true;
      break;
    }
    if (drained_ > limit || overloaded_) {
      overloaded_ = true;
      return look_for_deadlock();
    }
    if (Status s = advance(std::max(step, drained_ / 8), false); !s) return s;
    if (drained_ - checked_at < period_) continue;
    checked_at = drained_;
    if (totals_.arrived == arrived_before)
      if (Status s = look_for_deadlock(); !s) return s;
    arrived_before = totals_.arrived;
  }
  return {};
}

// All processes make this call.
Point Run::result() {
  Point point;
  point.load = experiment_.load;
  point.cycle_ps = cycle_.in_ps();
  point.warmup_cycles = warmed_;
  point.measured_cycles = measured_;
  point.drain_cycles = drained_;
  Worst worst;
  Packer mine;
  driver_.measured().pack(mine);
  mine.put(driver_.worst());
  links_.pack(mine);
  for (const PeerBytes& bytes : all_gather(peers_, mine.take())) {
    Unpacker theirs(bytes);
    point.packets.merge(Measured::unpack(theirs));
    worst = std::min(worst, theirs.take<Worst>());
    links_.add(theirs);
  }
  point.converged = converged_;
  if (overloaded_) point.state = PointState::saturated;
  if (stopped_ && !complete_) point.state = PointState::stopped;
  if (measured_ == 0) return point;
  const double node_cycles =
      static_cast<double>(scenario_.nodes()) * static_cast<double>(measured_);
  point.offered = static_cast<double>(point.packets.born_flits) / node_cycles;
  point.accepted = static_cast<double>(point.packets.accepted_flits) / node_cycles;
  point.worst_node = NodeId(worst.node);
  point.accepted_worst = static_cast<double>(worst.flits) / static_cast<double>(measured_);
  const LinkUse use = links_.use(cycle_ * measured_);
  point.link_utilisation_max = use.max;
  point.link_utilisation_mean = use.mean;
  point.busiest_link = use.busiest;
  point.node_link_utilisation_max = use.node_max;
  point.node_link_utilisation_mean = use.node_mean;
  point.busiest_node = use.busiest_node;
  point.busiest_ejects = use.busiest_ejects;
  point.news_share_max = use.news_max;
  point.news_share_mean = use.news_mean;
  return point;
}

Result<Point> Run::all() {
  auto network = make_network(scenario_.model, *scenario_.topology, scenario_.hardware,
                              *scenario_.policy, driver_,
                              {.seed = scenario_.seed,
                               .workers = workers_,
                               .cut = experiment_.cut,
                               .peers = peers_,
                               .window = {}});
  if (!network) return std::move(network).error();
  network_ = *std::move(network);
  driver_.attach(*network_);
  if (Status s = warm_up(); !s) return std::move(s).error();
  if (!stopped_)
    if (Status s = measure(); !s) return std::move(s).error();
  if (!stopped_)
    if (Status s = drain(); !s) return std::move(s).error();
  if (control_.progress && !stopped_) control_.progress(1);
  return result();
}

}  // namespace

const char* to_text(PointState state) {
  switch (state) {
    case PointState::steady:
      return "steady";
    case PointState::saturated:
      return "saturated";
    case PointState::stopped:
      return "stopped";
  }
  return "";
}

Result<Point> run_experiment(const Experiment& experiment, const Control& control) {
  const Scenario& scenario = *experiment.scenario;
  WEFT_CHECK(experiment.load > 0);
  auto injection = Injection::make(scenario.injection, experiment.load / scenario.sizes.mean());
  if (!injection) return std::move(injection).error();
  Run run(experiment, control, *injection);
  return run.all();
}

}  // namespace weft
