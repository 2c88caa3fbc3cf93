// SPDX-License-Identifier: Apache-2.0
// The arguments behind find_bounds(), one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/study/map/bounds.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

// What is added up along the way of a pair: one for each ordered pair that talks, or its bytes.
enum class Count { pairs, bytes };

inline double weight(const Talk& talk, Count count) {
  return count == Count::pairs ? talk.directions : talk.out + talk.in;
}

// How near the other slots are. Distances are never above those that maps are judged by.
class Reach {
 public:
  // `visits`: ports that searches may look at; 2^28 take about a second. Without them: less is
  // proved.
  explicit Reach(const Problem& problem, std::uint64_t visits = std::uint64_t{1} << 28);

  // From no slot is the j-th nearest other slot (from 0) nearer than this. j < the most peers that
  // a rank has.
  std::uint32_t from_best(std::size_t j) const { return best_[j]; }
  // The same from this node to slots that no pinned rank has; empty where that is not known.
  std::vector<std::uint32_t> from(NodeId node);

 private:
  bool search(RouterId from, std::span<const std::uint32_t> slots, std::size_t need);
  bool search_all();
  std::vector<std::uint64_t> within_lattice() const;
  std::vector<std::uint64_t> within_tree() const;

  const Problem& problem_;
  std::size_t peers_max_ = 0;
  std::vector<std::uint32_t> slots_;     // By router.
  std::vector<std::uint32_t> unpinned_;  // By router: slots without a pinned rank.
  std::vector<std::uint32_t> best_;
  std::uint64_t visits_left_;
  std::vector<std::uint32_t> seen_, front_, next_;
  std::uint32_t stamp_ = 0;
  std::vector<std::uint64_t> within_;  // Slots within 0, 1, 2, ... links, from the last search.
};

double neighbour_bound(const Problem& problem, Reach& reach, Paths& paths, Count count);
// 0 where the network is no cube, or the pattern has no part that a shift or a flip of bits of all
// ranks leaves as it is.
double spectral_bound(const Problem& problem, Count count);

// Ranks that hang together and need several routers must talk between these.
double component_bound(const Problem& problem, Count count);

struct LinkBound {
  double bytes = 0;
  Argument by = Argument::none;
};
LinkBound link_bound(const Problem& problem, Paths& paths, double hop_bytes);
// Has every pair of nodes that take ranks surely a way?
bool surely_complete(const Problem& problem, Paths& paths);

// Rounding must not lift a bound above the truth. Wide enough for sums of 10^6 terms.
inline constexpr double below_one = 1 - 1e-9;
// The next multiple of `step` that is not below (nearly) `value`.
double round_up(double value, double step);
// The greatest number of which all flows are multiples; 0 without bytes.
double common_part(const Problem& problem);

}  // namespace weft::map
