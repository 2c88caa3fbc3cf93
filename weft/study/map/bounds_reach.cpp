// SPDX-License-Identifier: Apache-2.0
// Bounds from distances: no rank has more near slots than the network offers.
#include <algorithm>
#include <functional>
#include <utility>

#include <weft/study/map/bounds_parts.hpp>

namespace weft::map {

namespace {

// The distance of the n-th slot (from 0), where within[d] slots are not farther than d.
std::vector<std::uint32_t> distances(std::span<const std::uint64_t> within, std::size_t skip,
                                     std::size_t count) {
  std::vector<std::uint32_t> made(count, no_way_hops);
  std::size_t j = 0;
  const std::size_t depth = std::min<std::size_t>(within.size(), no_way_hops);
  for (std::size_t d = 0; d < depth; ++d)
    for (; j < count && j + skip < within[d]; ++j) made[j] = static_cast<std::uint32_t>(d);
  return made;
}

}  // namespace

Reach::Reach(const Problem& problem, std::uint64_t visits)
    : problem_(problem), visits_left_(visits) {
  const Graph& graph = problem.topology().graph;
  slots_.assign(graph.router_count(), 0);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    slots_[graph.router_of(NodeId(n)).index] += problem.slots_at(NodeId(n));
  unpinned_ = slots_;
  if (problem.any_fixed()) {
    const RankMap map = problem.in_order();
    for (std::uint32_t r = 0; r < problem.ranks(); ++r)
      if (problem.is_fixed(r)) --unpinned_[graph.router_of(problem.node(map[r])).index];
  }
  for (std::uint32_t r = 0; r < problem.ranks(); ++r)
    peers_max_ = std::max(peers_max_, problem.talks(r).size());
  seen_.assign(graph.router_count(), 0);
  const bool lattice = problem.topology().shape->lattice() != nullptr;
  if ((lattice && problem.whole()) || !search_all())
    within_ = lattice ? within_lattice() : within_tree();
  best_ = distances(within_, 1, peers_max_);
}

std::vector<std::uint32_t> Reach::from(NodeId node) {
  if (!search(problem_.topology().graph.router_of(node), unpinned_, peers_max_)) return {};
  return distances(within_, 0, peers_max_);
}

// Stops when `need` slots are found; false when this would take too long.
bool Reach::search(RouterId from, std::span<const std::uint32_t> slots, std::size_t need) {
  const Graph& graph = problem_.topology().graph;
  ++stamp_;
  seen_[from.index] = stamp_;
  front_.assign(1, from.index);
  within_.assign(1, slots[from.index]);
  while (within_.back() < need && !front_.empty()) {
    next_.clear();
    std::uint64_t found = within_.back();
    for (const std::uint32_t r : front_) {
      const auto ports = graph.ports(RouterId(r));
      if (ports.size() > visits_left_) return false;
      visits_left_ -= ports.size();
      for (const Port& port : ports) {
        if (!port.usable() || seen_[port.peer.index] == stamp_) continue;
        seen_[port.peer.index] = stamp_;
        next_.push_back(port.peer.index);
        found += slots[port.peer.index];
      }
    }
    front_.swap(next_);
    within_.push_back(found);
  }
  return true;
}

bool Reach::search_all() {
  std::vector<std::uint64_t> most;
  for (std::uint32_t r = 0; r < slots_.size(); ++r) {
    if (slots_[r] == 0) continue;
    if (!search(RouterId(r), slots_, peers_max_ + 1)) return false;
    if (within_.size() > most.size()) most.resize(within_.size(), most.empty() ? 0 : most.back());
    for (std::size_t d = 0; d < most.size(); ++d)
      most[d] = std::max(most[d], within_[std::min(d, within_.size() - 1)]);
  }
  within_ = std::move(most);
  return true;
}

// Round the middle, where at every distance there are the most; a lattice with holes has no more.
std::vector<std::uint64_t> Reach::within_lattice() const {
  const Lattice& lattice = *problem_.topology().shape->lattice();
  std::vector<std::uint64_t> at = {*std::max_element(slots_.begin(), slots_.end())};
  for (std::size_t axis = 0; axis < lattice.radix.size(); ++axis) {
    const auto radix = static_cast<std::size_t>(lattice.radix[axis]);
    std::vector<std::uint64_t> sum(at.size() + radix / 2, 0);
    for (std::size_t x = 0; x < radix; ++x) {  // Ring or line alike, seen from the middle.
      const std::size_t away = x > radix / 2 ? x - radix / 2 : radix / 2 - x;
      for (std::size_t d = 0; d < at.size(); ++d) sum[d + away] += at[d];
    }
    at = std::move(sum);
  }
  for (std::size_t d = 1; d < at.size(); ++d) at[d] += at[d - 1];
  return at;
}

// As if no two ways from a router met again.
std::vector<std::uint64_t> Reach::within_tree() const {
  const Graph& graph = problem_.topology().graph;
  std::uint64_t ports = 0;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    ports = std::max<std::uint64_t>(ports, graph.ports(RouterId(r)).size());
  const std::uint64_t each = *std::max_element(slots_.begin(), slots_.end());
  std::uint64_t ring = 1, routers = 1;
  std::vector<std::uint64_t> within = {each};
  while (routers < graph.router_count() && within.size() <= no_way_hops) {
    ring *= std::max<std::uint64_t>(1, within.size() == 1 ? ports : ports - 1);
    ring = std::min<std::uint64_t>(ring, graph.router_count());
    routers += ring;
    within.push_back(each * routers);
  }
  return within;
}

namespace {

// The heaviest in the nearest slots.
double heaviest_nearest(std::vector<double>& weights, const auto& distance) {
  std::sort(weights.begin(), weights.end(), std::greater<>());
  double sum = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) sum += weights[j] * distance(j);
  return sum;
}

// Pairs of which both are pinned have their hops already.
double pinned_pairs(const Problem& problem, const RankMap& map, Paths& paths, Count count) {
  double sum = 0;
  for (const Flow& f : problem.traffic().flows()) {
    if (f.from == f.to || !problem.is_fixed(f.from) || !problem.is_fixed(f.to)) continue;
    const double one = count == Count::pairs ? 1 : static_cast<double>(f.bytes);
    sum += one * paths.hops(problem.node(map[f.from]), problem.node(map[f.to]));
  }
  return sum;
}

}  // namespace

double neighbour_bound(const Problem& problem, Reach& reach, Paths& paths, Count count) {
  const bool any_fixed = problem.any_fixed();
  const RankMap map = any_fixed ? problem.in_order() : RankMap();
  double twice = 0;  // Each pair is seen from both ends.
  std::vector<double> weights;
  for (std::uint32_t r = 0; r < problem.ranks(); ++r) {
    weights.clear();
    const bool pinned = any_fixed && problem.is_fixed(r);
    for (const Talk& talk : problem.talks(r))
      if (!pinned || !problem.is_fixed(talk.peer)) weights.push_back(weight(talk, count));
    const auto own = pinned && !weights.empty() ? reach.from(problem.node(map[r]))
                                                : std::vector<std::uint32_t>();
    if (own.empty())
      twice += heaviest_nearest(weights, [&](std::size_t j) { return reach.from_best(j); });
    else
      twice += heaviest_nearest(weights, [&](std::size_t j) { return own[j]; });
  }
  return twice / 2 + (any_fixed ? pinned_pairs(problem, map, paths, count) : 0);
}

}  // namespace weft::map
