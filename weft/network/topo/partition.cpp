// SPDX-License-Identifier: Apache-2.0
// Refinement after Fiduccia and Mattheyses (1982): every router is moved once, the best first even
// if it makes the cut worse, and the best prefix of the moves is kept. Repeated until a pass gains
// nothing, from several starts.
#include "weft/network/topo/partition.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <weft/base/rng.hpp>

namespace weft::detail {
namespace {

constexpr std::uint32_t none = 0xffffffffu;
constexpr std::uint64_t unbalanced = std::numeric_limits<std::uint64_t>::max();
constexpr int passes_max = 24;
constexpr int looked_at_max = 32;  // Routers too heavy to move that are skipped before giving up.

std::uint64_t weight(const Graph& graph, std::uint32_t r) {
  return graph.nodes_at(RouterId(r)).size();
}

// Routers by gain, one stack of equals per gain, so that the best is found at once.
class Buckets {
 public:
  Buckets(std::uint32_t routers, int degree)
      : degree_(degree),
        head_(static_cast<std::size_t>(2 * degree + 1), none),
        next_(routers, none),
        before_(routers, none) {}

  void insert(std::uint32_t r, int gain) {
    std::uint32_t& head = head_[slot(gain)];
    next_[r] = head;
    before_[r] = none;
    if (head != none) before_[head] = r;
    head = r;
    top_ = std::max(top_, gain);
  }
  void remove(std::uint32_t r, int gain) {
    if (before_[r] == none)
      head_[slot(gain)] = next_[r];
    else
      next_[before_[r]] = next_[r];
    if (next_[r] != none) before_[next_[r]] = before_[r];
  }
  void clear() {
    std::fill(head_.begin(), head_.end(), none);
    top_ = -degree_;
  }
  // The best router that `fits`, or none.
  template <typename Fits>
  std::uint32_t best(const Fits& fits) {
    while (top_ > -degree_ && head_[slot(top_)] == none) --top_;
    int looked_at = 0;
    for (int gain = top_; gain >= -degree_; --gain)
      for (std::uint32_t r = head_[slot(gain)]; r != none; r = next_[r]) {
        if (fits(r)) return r;
        if (++looked_at == looked_at_max) return none;
      }
    return none;
  }

 private:
  std::size_t slot(int gain) const {
    const int above_least = gain + degree_;
    return static_cast<std::size_t>(above_least);
  }
  int degree_;
  int top_ = 0;
  std::vector<std::uint32_t> head_, next_, before_;
};

int degree_max(const Graph& graph) {
  std::size_t most = 0;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    most = std::max(most, graph.ports(RouterId(r)).size());
  return static_cast<int>(most);
}

class Refiner {
 public:
  explicit Refiner(const Graph& graph)
      : graph_(graph),
        tolerance_(unavoidable_difference(graph)),
        side_(graph.router_count()),
        gain_(graph.router_count()),
        locked_(graph.router_count()),
        buckets_{Buckets(graph.router_count(), degree_max(graph)),
                 Buckets(graph.router_count(), degree_max(graph))} {
    for (std::uint32_t r = 0; r < graph.router_count(); ++r)
      slack_ = std::max(slack_, tolerance_ + 2 * weight(graph, r));
  }

  // The first routers of the order, until half of the nodes are reached, against the rest.
  std::uint64_t refine(const std::vector<std::uint32_t>& order) {
    const std::uint64_t half = graph_.node_count() / 2;
    std::uint64_t taken = 0;
    std::fill(side_.begin(), side_.end(), std::uint8_t{1});
    for (const std::uint32_t r : order) {
      if (taken == half || taken + weight(graph_, r) > half) continue;
      taken += weight(graph_, r);
      side_[r] = 0;
    }
    heavy_[0] = taken;
    heavy_[1] = graph_.node_count() - taken;
    std::uint64_t best = difference() <= tolerance_ ? count_cut() : unbalanced;
    for (int i = 0; i < passes_max; ++i) {
      const std::uint64_t found = pass();
      if (found >= best) break;
      best = found;
    }
    return best;
  }

 private:
  std::uint64_t difference() const {
    return heavy_[0] > heavy_[1] ? heavy_[0] - heavy_[1] : heavy_[1] - heavy_[0];
  }
  std::uint64_t count_cut() const {
    std::uint64_t cut = 0;
    for (std::uint32_t r = 0; r < graph_.router_count(); ++r)
      for (const Port& p : graph_.ports(RouterId(r)))
        if (p.usable() && p.peer.index > r && side_[p.peer.index] != side_[r]) ++cut;
    return cut;
  }
  void fill_buckets();
  std::uint32_t choose();
  void move(std::uint32_t r);
  std::uint64_t pass();

  const Graph& graph_;
  std::uint64_t tolerance_;
  std::uint64_t slack_ = 0;
  std::uint64_t heavy_[2] = {0, 0};
  std::vector<std::uint8_t> side_;
  std::vector<int> gain_;
  std::vector<bool> locked_;
  Buckets buckets_[2];
};

void Refiner::fill_buckets() {
  for (Buckets& b : buckets_) b.clear();
  for (std::uint32_t r = 0; r < graph_.router_count(); ++r) {
    gain_[r] = 0;
    for (const Port& p : graph_.ports(RouterId(r)))
      if (p.usable()) gain_[r] += side_[p.peer.index] != side_[r] ? 1 : -1;
    locked_[r] = false;
    buckets_[side_[r]].insert(r, gain_[r]);
  }
}

std::uint32_t Refiner::choose() {
  std::uint32_t best = none;
  for (const std::size_t from : {0u, 1u}) {
    const std::uint32_t r = buckets_[from].best([&](std::uint32_t candidate) {
      const std::uint64_t w = weight(graph_, candidate);
      return heavy_[1 - from] + w <= heavy_[from] - w + slack_ || w == 0;
    });
    if (r == none) continue;
    if (best == none || gain_[r] > gain_[best] ||
        (gain_[r] == gain_[best] && heavy_[from] > heavy_[1 - from]))
      best = r;
  }
  return best;
}

void Refiner::move(std::uint32_t r) {
  const std::size_t from = side_[r];
  buckets_[from].remove(r, gain_[r]);
  locked_[r] = true;
  side_[r] = static_cast<std::uint8_t>(1 - from);
  heavy_[from] -= weight(graph_, r);
  heavy_[1 - from] += weight(graph_, r);
  for (const Port& p : graph_.ports(RouterId(r))) {
    if (!p.usable() || locked_[p.peer.index]) continue;
    const std::uint32_t peer = p.peer.index;
    buckets_[side_[peer]].remove(peer, gain_[peer]);
    gain_[peer] += side_[peer] == from ? 2 : -2;
    buckets_[side_[peer]].insert(peer, gain_[peer]);
  }
}

std::uint64_t Refiner::pass() {
  fill_buckets();
  auto cut = static_cast<std::int64_t>(count_cut());
  std::int64_t best = difference() <= tolerance_ ? cut : std::numeric_limits<std::int64_t>::max();
  std::vector<std::uint32_t> moved;
  std::size_t kept = 0;
  for (std::uint32_t r = choose(); r != none; r = choose()) {
    cut -= gain_[r];
    move(r);
    moved.push_back(r);
    if (cut < best && difference() <= tolerance_) {
      best = cut;
      kept = moved.size();
    }
  }
  for (std::size_t i = moved.size(); i-- > kept;) {
    const std::uint32_t r = moved[i];
    const std::size_t from = side_[r];
    side_[r] = static_cast<std::uint8_t>(1 - from);
    heavy_[from] -= weight(graph_, r);
    heavy_[1 - from] += weight(graph_, r);
  }
  return best == std::numeric_limits<std::int64_t>::max() ? unbalanced
                                                          : static_cast<std::uint64_t>(best);
}

std::vector<std::uint32_t> by_index(const Graph& graph) {
  std::vector<std::uint32_t> order(graph.router_count());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

std::vector<std::uint32_t> by_weight(const Graph& graph) {
  std::vector<std::uint32_t> order = by_index(graph);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return weight(graph, a) > weight(graph, b); });
  return order;
}

// Nearest first: halves that hang together are good starts.
std::vector<std::uint32_t> by_nearness(const Graph& graph, std::uint32_t start) {
  std::vector<std::uint32_t> order{start};
  std::vector<bool> seen(graph.router_count());
  seen[start] = true;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Port& p : graph.ports(RouterId(order[i])))
      if (p.usable() && !seen[p.peer.index]) {
        seen[p.peer.index] = true;
        order.push_back(p.peer.index);
      }
  return order;
}

std::vector<std::uint32_t> by_chance(const Graph& graph, Rng rng) {
  std::vector<std::uint32_t> order = by_index(graph);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

}  // namespace

std::uint64_t unavoidable_difference(const Graph& graph) {
  std::uint64_t light = 0;
  std::uint64_t heavy = 0;
  for (const std::uint32_t r : by_weight(graph)) {
    light += weight(graph, r);
    if (light > heavy) std::swap(light, heavy);
  }
  return heavy - light;
}

std::uint64_t search_bisection(const Graph& graph) {
  Refiner refiner(graph);
  // About two seconds for a network of a few million cables, one start at the least of each sort.
  constexpr std::uint64_t budget = 4'000'000;
  const std::uint64_t starts = std::clamp<std::uint64_t>(budget / (graph.cable_count() + 1), 2, 64);
  std::uint64_t best = std::min(refiner.refine(by_index(graph)), refiner.refine(by_weight(graph)));
  const Rng rng(1);
  for (std::uint64_t i = 0; i < starts; ++i) {
    Rng own = rng.stream("start", i);
    const auto start = static_cast<std::uint32_t>(own.below(graph.router_count()));
    best = std::min(best,
                    refiner.refine(i % 2 == 0 ? by_nearness(graph, start) : by_chance(graph, own)));
  }
  WEFT_CHECK(best != unbalanced);
  return best;
}

}  // namespace weft::detail
