// SPDX-License-Identifier: Apache-2.0
// Simulated annealing of a map: swaps of two slots, mostly such that a rank comes beside one that
// it talks with, or that two near each other change places. One chain on one thread; the same
// start, random numbers and tries give the same map.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <weft/base/rng.hpp>
#include <weft/study/map/board.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

struct Cooling {
  // Temperatures as multiples of what a bad move costs on average: at 1 a third of those is taken.
  double from = 0.1, to = 0.001;
  int norm_from = 8, norm_to = 32;
};

class Annealer {
 public:
  Annealer(const Problem& problem, const Objective& objective, std::unique_ptr<Paths> paths,
           Rng rng);

  // Forgets what was best before.
  void start(const RankMap& map, const Cooling& cooling);
  // The next `tries` of `total` planned; ends early when `stop` is raised.
  void run(std::uint64_t tries, std::uint64_t total, const std::atomic<bool>* stop);

  double best_value() const { return best_value_; }
  const RankMap& best() const { return best_; }
  std::uint64_t tries() const { return tries_; }
  // Share of the latest tries that were kept.
  double acceptance() const { return recent_tries_ == 0 ? 0 : recent_kept_ / recent_tries_; }

 private:
  struct Move {
    std::uint32_t slot_a, slot_b;
  };
  Move draw();
  std::uint32_t near(NodeId node);               // A slot.
  std::uint32_t wander(NodeId node, int reach);  // Up to `reach` cables away, or anywhere.
  void measure();
  void note_best();
  void steepen(double done);

  const Problem& problem_;
  Board board_;
  Rng rng_;
  Objective objective_;
  std::vector<std::uint32_t> movers_;  // Ranks that talk and are not fixed.
  int reach_ = 0;                      // Links from a rank's peer to where it may be tried.
  Cooling cooling_;
  int norm_ = 0;
  double unit_ = 0;  // What a bad move costs on average.
  RankMap best_;
  double best_value_ = 0;
  std::uint64_t tries_ = 0;
  double recent_tries_ = 0, recent_kept_ = 0;
};

}  // namespace weft::map
