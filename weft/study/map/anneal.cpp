// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <weft/study/map/anneal.hpp>
#include <weft/study/map/draws.hpp>
#include <weft/study/map/power.hpp>

namespace weft::map {

Annealer::Annealer(const Problem& problem, const Objective& objective, std::unique_ptr<Paths> paths,
                   Rng rng)
    : problem_(problem),
      board_(problem, objective, std::move(paths)),
      rng_(rng),
      objective_(objective),
      reach_(problem.topology().shape->lattice() != nullptr ? 2 : 4) {
  for (std::uint32_t r = 0; r < problem.ranks(); ++r)
    if (!problem.is_fixed(r) && !problem.talks(r).empty()) movers_.push_back(r);
}

void Annealer::start(const RankMap& map, const Cooling& cooling) {
  cooling_ = cooling;
  board_.set(map);
  best_ = map;
  best_value_ = board_.value();
  tries_ = 0;
  norm_ = cooling.norm_from;
  if (objective_.link_norm == 0) board_.set_norm(norm_);
  measure();
}

void Annealer::measure() {
  constexpr int samples = 1000;
  double sum = 0;
  int worse = 0;
  if (movers_.empty()) return;
  for (int i = 0; i < samples; ++i) {
    const Move move = draw();
    if (move.slot_a == move.slot_b) continue;
    const double cost = board_.try_swap(move.slot_a, move.slot_b);
    if (cost <= 0) continue;
    sum += cost;
    ++worse;
  }
  unit_ = worse > 0 ? sum / worse : 0;
}

std::uint32_t Annealer::wander(NodeId node, int reach) {
  const Graph& graph = problem_.topology().graph;
  RouterId r = graph.router_of(node);
  const int steps = 1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(reach)));
  for (int i = 0; i < steps; ++i) {
    const auto ports = graph.ports(r);
    if (ports.empty()) break;  // The only switch of the network.
    const Port& port = ports[rng_.below(ports.size())];
    if (port.connected()) r = port.peer;
  }
  const auto nodes = graph.nodes_at(r);
  if (nodes.empty()) return anywhere;
  const NodeId found = nodes[rng_.below(nodes.size())];
  const std::uint32_t slots = problem_.slots_at(found);
  return slots == 0 ? anywhere
                    : problem_.first_slot(found) + static_cast<std::uint32_t>(rng_.below(slots));
}

std::uint32_t Annealer::near(NodeId node) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::uint32_t slot = wander(node, reach_);
    if (slot != anywhere) return slot;
  }
  return static_cast<std::uint32_t>(rng_.below(problem_.slots()));
}

Annealer::Move Annealer::draw() {
  const std::uint32_t rank = movers_[rng_.below(movers_.size())];
  const std::uint32_t own = board_.slot_of(rank);
  const std::uint64_t kind = rng_.below(16);
  std::uint32_t other = 0;
  if (kind < 9) {
    const auto talks = problem_.talks(rank);
    const Talk& talk = talks[rng_.below(talks.size())];
    other = near(problem_.node(board_.slot_of(talk.peer)));
  } else if (kind < 15) {
    other = near(problem_.node(own));
  } else {
    other = static_cast<std::uint32_t>(rng_.below(problem_.slots()));
  }
  if (problem_.is_fixed(board_.rank_at(other))) other = own;
  return {own, other};
}

void Annealer::note_best() {
  const double value = board_.value();
  if (value >= best_value_) return;
  best_value_ = value;
  best_ = board_.map();
}

// The norm comes nearer to the maximum step by step, in the first two thirds of the way.
void Annealer::steepen(double done) {
  if (objective_.link_norm > 0) return;  // Then the objective says which.
  int steps = 0;
  while ((cooling_.norm_from << steps) < cooling_.norm_to) ++steps;
  const int at = std::min(steps, static_cast<int>(done * 1.5 * (steps + 1)));
  if (cooling_.norm_from << at == norm_) return;
  norm_ = cooling_.norm_from << at;
  board_.set_norm(norm_);
}

void Annealer::run(std::uint64_t tries, std::uint64_t total, const std::atomic<bool>* stop) {
  constexpr std::uint64_t stretch = 256;  // Temperature and stop sign are looked at this often.
  if (movers_.empty()) return;
  double temperature = 0;
  bool better = false;
  for (std::uint64_t i = 0; i < tries; ++i) {
    if (i % stretch == 0) {
      if (better) note_best();
      better = false;
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) break;
      const double done = static_cast<double>(tries_) / static_cast<double>(total);
      steepen(done);
      temperature = unit_ * cooling_.from * power(cooling_.to / cooling_.from, done);
      recent_tries_ = recent_tries_ * 0.999 + stretch;
      recent_kept_ *= 0.999;
    }
    ++tries_;
    const Move move = draw();
    if (move.slot_a == move.slot_b) continue;
    const double cost = board_.try_swap(move.slot_a, move.slot_b);
    if (cost > 0 && cost > temperature * exponential(rng_)) continue;
    board_.keep();
    ++recent_kept_;
    better = true;
  }
  note_best();
}

}  // namespace weft::map
