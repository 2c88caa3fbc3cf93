// SPDX-License-Identifier: Apache-2.0
// A map with everything its cost is made of, kept up to date swap by swap: hops, hop-bytes and the
// load of every link. Always equal to what judge() finds for the same map (below 2^53 bytes to the
// bit). A swap is tried, then kept or dropped; trying changes nothing.
//
// Searches follow a smooth form of the objective, its logarithm with the busiest link replaced by a
// p-norm of all: the maximum itself says nothing about most moves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/study/map/line_trial.hpp>
#include <weft/study/map/objective.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

class Board {
 public:
  // The problem outlives the board.
  Board(const Problem& problem, const Objective& objective, std::unique_ptr<Paths> paths);

  void set(const RankMap& map);
  const RankMap& map() const { return slot_of_; }
  std::uint32_t rank_at(std::uint32_t slot) const { return rank_at_[slot]; }
  std::uint32_t slot_of(std::uint32_t rank) const { return slot_of_[rank]; }

  // By how much the smooth objective would grow if the ranks of two slots changed places. A later
  // try forgets an earlier one. REQUIRES: neither rank is fixed.
  double try_swap(std::uint32_t slot_a, std::uint32_t slot_b);
  void keep();  // Carries out the last one tried.

  std::int64_t hops() const { return hops_; }
  double hop_bytes() const { return hop_bytes_; }
  double link_max();
  double load(LinkId link) const { return load_[link.index] / whole_; }
  // The exact objective, as judge() has it (but for a p-norm, which is followed, not recomputed).
  double value();
  // How steep the p-norm is: 4, 8, 16, 32 or 64. Low ones see further, high ones come nearer to
  // the maximum.
  void set_norm(int p);

 private:
  struct Change {
    std::uint32_t link;
    double by;
  };
  struct Tried {
    std::uint32_t slot_a = 0, slot_b = 0;
    std::int64_t hops = 0;
    double hop_bytes = 0, norm = 0;
  };
  // Shift: adds bytes to what goes between two nodes, and answers the hops.
  template <typename Shift>
  void move_talks(std::uint32_t rank, NodeId from, NodeId to, std::uint32_t other, Shift shift);
  template <typename Shift>
  void turn_talk(const Talk& talk, NodeId a, NodeId b, Shift shift);
  void try_moves(NodeId a, NodeId b);
  template <typename Shift>
  void try_moves_with(NodeId a, NodeId b, Shift shift);
  void count_changes();
  template <int squarings>
  double norm_change();
  void sum_norm();

  const Problem& problem_;
  Objective objective_;
  std::unique_ptr<Paths> paths_;
  double whole_;
  bool links_;  // Are loads kept?
  RankMap slot_of_;
  std::vector<std::uint32_t> rank_at_;
  std::vector<NodeId> node_of_;  // By rank.

  std::int64_t hops_ = 0;
  double hop_bytes_ = 0;
  std::vector<double> load_;   // By link, times whole_.
  std::vector<double> scale_;  // By link: slowness / whole_ / a typical load. One entry: all alike.
  double norm_ = 0;            // Sum of terms.
  int squarings_ = 4;          // p = 2^squarings.
  double typical_ = 1;
  double max_ = 0;
  bool max_known_ = false;
  std::uint64_t kept_ = 0;

  std::unique_ptr<LineTrial> lines_trial_;  // Where it fits.
  bool exact_ = false;  // Loads of links are wanted, not only what they do to the norm.

  Tried tried_;
  Deltas deltas_;  // All zero between tries.
  std::vector<Change> changes_;
};

}  // namespace weft::map
