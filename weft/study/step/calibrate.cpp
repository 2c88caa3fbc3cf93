// SPDX-License-Identifier: Apache-2.0
#include "weft/study/step/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <weft/base/rng.hpp>

namespace weft {
namespace {

// Every node sends a message to another one, and gets one.
Result<TrafficMatrix> random_permutation(std::uint32_t nodes, Bytes message, Rng dice) {
  std::vector<std::uint32_t> to(nodes);
  std::iota(to.begin(), to.end(), 0);
  for (std::uint32_t i = nodes; i > 1; --i) std::swap(to[i - 1], to[dice.below(i)]);
  std::vector<Flow> flows;
  for (std::uint32_t from = 0; from < nodes; ++from)
    if (to[from] != from)
      flows.push_back({from, to[from], static_cast<std::uint64_t>(message.count), 1});
  return TrafficMatrix::make(nodes, std::move(flows));
}

class Fit {
 public:
  Fit(const Arena& arena, const FlowModel& model, const CalibrationOptions& options)
      : arena_(arena), options_(options), model_(model), map_(arena.topology.graph.node_count()) {
    std::iota(map_.begin(), map_.end(), 0);
  }

  Result<Calibration> find();

 private:
  Result<double> play(const TrafficMatrix& traffic, const NetworkModel& model);
  // Flows by packets, in each permutation.
  Result<std::vector<double>> compare(double efficiency);
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  const Arena& arena_;
  const CalibrationOptions& options_;
  FlowModel model_;
  std::vector<std::uint32_t> map_;
  std::vector<TrafficMatrix> traffic_;
  std::vector<double> packets_;
};

Result<double> Fit::play(const TrafficMatrix& traffic, const NetworkModel& model) {
  StepOptions how;
  how.seed = options_.seed;
  how.model = model;
  how.threads = has_workers(model.fidelity) ? options_.threads : 1;
  how.stop = options_.stop;
  auto step = play_step(arena_, traffic, map_, how);
  if (!step) return std::move(step).error();
  return step->time.in_seconds();
}

Result<std::vector<double>> Fit::compare(double efficiency) {
  model_.merge_efficiency = efficiency;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < traffic_.size(); ++i) {
    const auto flows = play(traffic_[i], {.fidelity = Fidelity::flow, .flow = model_, .flit = {}});
    if (!flows) return Error(flows.error());
    ratios.push_back(*flows / packets_[i]);
  }
  return ratios;
}

// Above 1: flows are too slow on the whole.
double product(const std::vector<double>& ratios) {
  double all = 1;
  for (const double ratio : ratios) all *= ratio;
  return all;
}

// From 1, either way.
double distance(const std::vector<double>& ratios) {
  const double all = product(ratios);
  return std::max(all, 1 / all);
}

// Flows take longer the less is left of links.
Result<Calibration> Fit::find() {
  for (int i = 0; i < options_.permutations; ++i) {
    auto traffic =
        random_permutation(arena_.topology.graph.node_count(), options_.message,
                           Rng(options_.seed).stream("calibrate", static_cast<std::uint64_t>(i)));
    if (!traffic) return std::move(traffic).error();
    const auto packets = play(*traffic, {});
    if (!packets) return Error(packets.error());
    if (stopped()) return Calibration{.model = model_, .before = {}, .after = {}, .stopped = true};
    if (*packets <= 0) continue;  // Of a few nodes each may have drawn itself.
    traffic_.push_back(*std::move(traffic));
    packets_.push_back(*packets);
  }
  if (traffic_.empty())
    return Error::call("among so few nodes no messages meet: leave flow.merge_efficiency at 1");
  Calibration found{.model = model_, .before = {}, .after = {}, .stopped = false};
  auto whole = compare(1);
  if (!whole) return std::move(whole).error();
  found.before = found.after = *whole;
  found.model.merge_efficiency = 1;
  double low = 0.3, high = 1;
  constexpr int halvings = 7;
  for (int i = 0; i < halvings && product(found.before) < 1; ++i) {
    const double middle = std::round((low + high) * 500) / 1000;
    auto ratios = compare(middle);
    if (!ratios) return std::move(ratios).error();
    if (distance(*ratios) < distance(found.after)) {
      found.after = *ratios;
      found.model.merge_efficiency = middle;
    }
    (product(*ratios) < 1 ? high : low) = middle;
  }
  found.stopped = stopped();
  return found;
}

}  // namespace

Result<Calibration> calibrate_flows(const Arena& arena, const FlowModel& model,
                                    const CalibrationOptions& options) {
  if (options.permutations < 1) return Error::call("a calibration needs at least one permutation");
  if (arena.topology.graph.node_count() < 2)
    return Error::call("a network of one node has nothing to calibrate");
  return Fit(arena, model, options).find();
}

}  // namespace weft
