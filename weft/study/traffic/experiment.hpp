// SPDX-License-Identifier: Apache-2.0
// One point of a latency-throughput curve: an open-loop simulation at one load, in three phases.
// The network warms up until its latency is steady; packets born in the measured window are
// followed; the drain waits for all of them under unchanged load. Where the network cannot carry
// the load, latency depends on how long one waits: the point is then marked saturated and claims
// none.
#pragma once  // Public, for experiments: stays within 0.1; results may get fields.

#include <atomic>
#include <cstdint>
#include <functional>

#include <weft/base/id.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/study/traffic/driver.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft {

struct Phases {
  // Both zero: by convergence. Otherwise exactly this long, to compare with other simulators.
  std::int64_t warmup_cycles = 0, measure_cycles = 0;

  // By convergence: sample periods are added until three successive ones change the mean latency
  // and the accepted rate of the window by less than the tolerance.
  double tolerance = 0.01;
  int warmup_periods_min = 3, warmup_periods_max = 30;
  int samples_min = 5, samples_max = 60;

  // Long enough for some hundred packets and several times the latency of the idle network; 0: the
  // experiment chooses.
  std::int64_t period_cycles = 0;
  double idle_latency_cycles = 0;  // 0: not known.

  // The mean latency that counts as overload; 0: none.
  double latency_limit_cycles = 0;

  bool fixed() const { return measure_cycles > 0; }
};

struct Experiment {
  const Scenario* scenario = nullptr;  // Outlives the run.
  double load = 0;                     // Flits per node and cycle.
  Phases phases;
  int workers = 1;
  Cut cut = Cut::automatic;  // How the network is shared out among workers or processes.
  // The processes that share it, each with one worker; null: one process. All make the same calls
  // and come to the same point.
  ProcessGroup* peers = nullptr;
};

// How a caller may look and stop.
struct Control {
  // Set, in any process: end soon, with what there is.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(double share)> progress;  // May be empty. Called by the running thread.
};

enum class PointState {
  steady,     // Drained: every packet of the window is counted.
  saturated,  // The network does not carry this load; accepted says what it carries.
  stopped,    // Interrupted: what was seen until then.
};
const char* to_text(PointState state);

// Rates are flits per node and cycle, latencies cycles.
struct Point {
  double load = 0;  // Asked for.
  PointState state = PointState::steady;
  bool converged = true;  // Always, where the length was given.
  double offered = 0;     // Really generated in the window.
  double accepted = 0;
  double accepted_worst = 0;  // By the node that received least.
  NodeId worst_node;
  double link_utilisation_max = 0, link_utilisation_mean = 0;  // Usable cables, by direction.
  LinkId busiest_link;
  double node_link_utilisation_max = 0,
         node_link_utilisation_mean = 0;           // Between nodes and routers.
  NodeId busiest_node;                             // The link of this one,
  bool busiest_ejects = false;                     // from the router to it, or else the other way.
  double news_share_max = 0, news_share_mean = 0;  // Share of cable time, on top of the above.
  std::int64_t cycle_ps = 0;
  std::int64_t warmup_cycles = 0, measured_cycles = 0, drain_cycles = 0;
  Measured packets;
  double wall_s = 0;  // That a sweep with a clock took to simulate it: of this run, and no result.

  bool claims_latency() const {
    return state == PointState::steady && packets.latency_ps.count() > 0;
  }
  double cycles(double ps) const { return ps / static_cast<double>(cycle_ps); }
  double latency() const { return cycles(packets.latency_ps.mean()); }
  double network_latency() const { return cycles(packets.network_ps.mean()); }
};

// An error: the injection cannot make this load, the hardware cannot be, or the network locked up.
Result<Point> run_experiment(const Experiment& experiment, const Control& control);

// The latency of an idle network: packets are sent one at a time, each long after the one before
// has arrived, and averaged as the pattern weighs them.
struct ZeroLoad {
  double latency_cycles = 0;
  double latency_max_cycles = 0;  // Of the packets that were sent.
  double hops = 0;
  // Every pair of the pattern was sent (a routing that throws coins still throws one per pair);
  // otherwise a sample of them.
  bool exact = true;
  std::uint64_t packets = 0;
};

// Every pair up to 1024 nodes (16384 where each node has one destination), 4096 drawn pairs above.
// Beyond 200,000 pairs those of equal length and size are sent once for all, which needs cables of
// one kind.
Result<ZeroLoad> zero_load_latency(const Scenario& scenario);

}  // namespace weft
