// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <weft/study/map/bisect.hpp>
#include <weft/study/map/geometry.hpp>
#include <weft/study/map/halve.hpp>

namespace weft::map {

namespace {

struct Region {
  std::vector<std::uint32_t> slots, ranks;  // As many of one as of the other.
  Area area;
};

class Bisection {
 public:
  Bisection(const Problem& problem, const Objective& objective, const BisectOptions& options)
      : problem_(problem),
        options_(options),
        geometry_(problem, options.seed, options.last_axis_first),
        region_of_(problem.slots(), 0),
        place_(problem.slots(), anywhere),
        order_(problem.in_order()) {
    // A talk weighs by its bytes where bytes count, and as one where hops do.
    double bytes = 0;
    for (const Flow& f : problem.traffic().flows()) bytes += static_cast<double>(f.bytes);
    const double pairs = std::max(1.0, static_cast<double>(problem.pairs()));
    const double by_bytes = objective.hop_bytes + objective.link_max + objective.link_norm;
    per_byte_ = bytes > 0 ? by_bytes / bytes : 0;
    per_way_ = (bytes > 0 ? objective.hops : objective.hops + by_bytes) / pairs;
  }

  RankMap run() {
    Region whole;
    whole.slots.resize(problem_.slots());
    std::iota(whole.slots.begin(), whole.slots.end(), 0u);
    whole.ranks = whole.slots;
    whole.area = geometry_.describe(whole.slots);
    regions_.push_back(std::move(whole));
    bool divided = true;
    while (divided && !(options_.stop != nullptr && options_.stop->load())) {
      divided = false;
      const std::size_t count = regions_.size();
      for (std::size_t i = 0; i < count; ++i) {
        if (regions_[i].slots.size() < 2) continue;
        divide(i);
        divided = true;
      }
    }
    RankMap map(problem_.slots());
    for (const Region& region : regions_)
      for (std::size_t i = 0; i < region.slots.size(); ++i) map[region.ranks[i]] = region.slots[i];
    return put_fixed(std::move(map));
  }

 private:
  double weight(const Talk& talk) const {
    return (talk.out + talk.in) * per_byte_ + talk.directions * per_way_;
  }

  void divide(std::size_t index) {
    Region one;
    Region two;
    one.slots = std::move(regions_[index].slots);
    const std::size_t first = geometry_.divide(one.slots);
    two.slots.assign(one.slots.begin() + static_cast<std::ptrdiff_t>(first), one.slots.end());
    one.slots.resize(first);
    one.area = geometry_.describe(one.slots);
    two.area = geometry_.describe(two.slots);
    const std::vector<std::uint32_t> ranks = std::move(regions_[index].ranks);
    const auto side =
        halve(make_group(ranks, index, one, two), static_cast<std::uint32_t>(first), options_.seed);
    const auto new_index = static_cast<std::uint32_t>(regions_.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      (side[i] == 0 ? one : two).ranks.push_back(ranks[i]);
      region_of_[ranks[i]] = side[i] == 0 ? static_cast<std::uint32_t>(index) : new_index;
    }
    regions_[index] = std::move(one);
    regions_.push_back(std::move(two));
  }

  Group make_group(const std::vector<std::uint32_t>& ranks, std::size_t index, const Region& one,
                   const Region& two) {
    Group group;
    group.first.push_back(0);
    for (std::uint32_t i = 0; i < ranks.size(); ++i) place_[ranks[i]] = i;
    const double between = std::max(geometry_.apart(one.area, two.area), 1e-9);
    for (const std::uint32_t r : ranks) {
      double pull = 0;
      for (const Talk& talk : problem_.talks(r)) {
        const std::uint32_t region = region_of_[talk.peer];
        if (region == index) {
          group.peer.push_back(place_[talk.peer]);
          group.weight.push_back(weight(talk));
        } else {
          pull += weight(talk) * preference(region, one, two) / between;
        }
      }
      group.pull.push_back(problem_.is_fixed(r) ? pull_of_fixed(r, one) : pull);
      group.first.push_back(static_cast<std::uint32_t>(group.peer.size()));
    }
    return group;
  }

  // Outweighs all else: a fixed rank belongs to the half with its slot.
  double pull_of_fixed(std::uint32_t rank, const Region& one) const {
    const bool first =
        std::find(one.slots.begin(), one.slots.end(), order_[rank]) != one.slots.end();
    return first ? 1e6 : -1e6;  // All weights together are below 10.
  }

  // How much nearer a region is to the first of two halves.
  double preference(std::uint32_t region, const Region& one, const Region& two) const {
    const Area& other = regions_[region].area;
    return geometry_.apart(two.area, other) - geometry_.apart(one.area, other);
  }

  // A fixed rank changes places with the rank in its slot.
  RankMap put_fixed(RankMap map) const {
    if (!problem_.any_fixed()) return map;
    std::vector<std::uint32_t> rank_at(map.size());
    for (std::uint32_t r = 0; r < map.size(); ++r) rank_at[map[r]] = r;
    for (std::uint32_t r = 0; r < map.size(); ++r) {
      if (!problem_.is_fixed(r) || map[r] == order_[r]) continue;
      const std::uint32_t other = rank_at[order_[r]];
      std::swap(rank_at[map[r]], rank_at[order_[r]]);
      std::swap(map[r], map[other]);
    }
    return map;
  }

  const Problem& problem_;
  const BisectOptions& options_;
  Geometry geometry_;
  std::vector<Region> regions_;
  std::vector<std::uint32_t> region_of_;  // By rank.
  std::vector<std::uint32_t> place_;      // By rank, in the group that is being divided.
  double per_byte_ = 0, per_way_ = 0;
  RankMap order_;  // Where fixed ranks belong.
};

}  // namespace

RankMap bisect(const Problem& problem, const Objective& objective, const BisectOptions& options) {
  return Bisection(problem, objective, options).run();
}

}  // namespace weft::map
