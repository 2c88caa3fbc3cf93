// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/layered_paths.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include <weft/base/rng.hpp>

namespace weft::detail {
namespace {

constexpr int turns_max = 126;  // Twice that and one fits in a byte of a table.
constexpr int usual_max = 4;    // More VCs are dear, and hardly spread the load better.

// Turns up that lie ahead on the way to one destination, by router: of a packet that may still go
// up, and of one that has gone down.
class Turns {
 public:
  Turns(const Graph& graph, const Ranking& ranking)
      : graph_(graph),
        ranking_(ranking),
        distances_(graph.router_count()),
        rising_(graph.router_count()),
        falling_(graph.router_count()) {}

  void search_from(RouterId to) { search(graph_, to, distances_, queue_); }
  // Goes outwards from the destination; `better(a, b)` chooses among the next steps.
  template <typename Better>
  void count(Better better);

  const std::vector<std::uint16_t>& distances() const { return distances_; }
  const std::vector<RouterId>& reached() const { return queue_; }
  int rising(RouterId r) const { return rising_[r.index]; }
  int falling(RouterId r) const { return falling_[r.index]; }

 private:
  const Graph& graph_;
  const Ranking& ranking_;
  std::vector<std::uint16_t> distances_;
  std::vector<RouterId> queue_;
  std::vector<std::uint8_t> rising_, falling_;
};

template <typename Better>
void Turns::count(Better better) {
  for (const RouterId r : queue_) {
    int rising = -1;
    int falling = -1;
    for (const Port& port : graph_.ports(r)) {
      if (!port.usable() || distances_[port.peer.index] + 1 != distances_[r.index]) continue;
      const bool up = ranking_.is_up(r, port.peer);
      const int ahead = (up ? rising_ : falling_)[port.peer.index];
      rising = rising < 0 ? ahead : better(rising, ahead);
      const int turned = std::min(ahead + (up ? 1 : 0), turns_max);
      falling = falling < 0 ? turned : better(falling, turned);
    }
    // The destination itself has no next step.
    rising_[r.index] = static_cast<std::uint8_t>(std::max(rising, 0));
    falling_[r.index] = static_cast<std::uint8_t>(std::max(falling, 0));
  }
}

int fewer(int a, int b) {
  return std::min(a, b);
}
int more(int a, int b) {
  return std::max(a, b);
}

std::vector<RouterId> routers_with_nodes(const Graph& graph) {
  std::vector<RouterId> found;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    if (!graph.nodes_at(RouterId(r)).empty()) found.push_back(RouterId(r));
  return found;
}

// Routers on a shortest way from any node to the destination that was searched from. A switch
// whose cable to it is down may be far off, but no packet gets there.
std::vector<RouterId> find_passed(const Graph& graph, const Turns& turns) {
  std::vector<bool> passed(graph.router_count(), false);
  std::vector<RouterId> found;
  const std::vector<RouterId>& by_distance = turns.reached();
  for (std::size_t i = by_distance.size(); i-- > 0;) {
    const RouterId r = by_distance[i];
    if (!passed[r.index] && graph.nodes_at(r).empty()) continue;
    found.push_back(r);
    for (const Port& port : graph.ports(r))
      if (port.usable() && turns.distances()[port.peer.index] + 1 == turns.distances()[r.index])
        passed[port.peer.index] = true;
  }
  return found;
}

LayersNeeded count_layers(const Graph& graph, const std::vector<RouterId>& ends,
                          RankingRule::By ranked_by) {
  const Ranking ranking(graph, {.by = ranked_by});
  Turns turns(graph, ranking);
  LayersNeeded needed{.ranked_by = ranked_by};
  for (const RouterId to : ends) {
    turns.search_from(to);
    const std::vector<RouterId> passed = find_passed(graph, turns);
    turns.count(fewer);
    for (const RouterId r : passed) needed.least = more(needed.least, turns.rising(r) + 1);
    turns.count(more);
    for (const RouterId r : passed) needed.all = more(needed.all, turns.rising(r) + 1);
  }
  return needed;
}

LayersNeeded search_layers(const Topology& topology) {
  using By = RankingRule::By;
  const Graph& graph = topology.graph;
  const std::vector<RouterId> ends = routers_with_nodes(graph);
  // Where that would take more than a second or so, the bound that holds for any ranking.
  if (ends.size() * std::uint64_t{graph.link_count()} > 300'000'000) {
    const int bound = 1 + find_diameter(topology, 2 * turns_max) / 2;
    return {bound, bound, topology.shape->tree() != nullptr ? By::height : By::distance};
  }
  const LayersNeeded by_distance = count_layers(graph, ends, By::distance);
  if (by_distance.all == 1 || ends.size() == graph.router_count()) return by_distance;
  const LayersNeeded by_height = count_layers(graph, ends, By::height);
  const bool higher_is_better =
      by_height.least <= by_distance.least && by_height.all < by_distance.all;
  return higher_is_better ? by_height : by_distance;
}

// Hash of all that the answer depends on.
std::uint64_t fingerprint(const Graph& graph) {
  std::uint64_t hash = mix(graph.router_count());
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    hash = mix(hash + (graph.nodes_at(RouterId(r)).empty() ? 1 : 2));
    for (const Port& port : graph.ports(RouterId(r)))
      hash = mix(hash ^ (port.usable() ? std::uint64_t{port.peer.index} + 1 : 0));
  }
  return hash;
}

}  // namespace

int LayersNeeded::usual() const {
  return std::max(least, std::min(all, usual_max));
}

// Choosing a routing, its VCs and the policy ask the same of the same graph, and for thousands of
// routers the answer takes a second: so the latest are kept.
LayersNeeded find_layers(const Topology& topology) {
  struct Known {
    std::uint64_t graph = 0;
    LayersNeeded needed;
  };
  constexpr std::size_t kept = 8;
  static std::mutex mutex;
  static std::array<Known, kept> known{};
  static std::size_t oldest = 0;
  const std::uint64_t graph = fingerprint(topology.graph);
  const std::lock_guard lock(mutex);
  for (const Known& one : known)
    if (one.graph == graph) return one.needed;
  known[oldest] = {graph, search_layers(topology)};
  const LayersNeeded needed = known[oldest].needed;
  oldest = (oldest + 1) % kept;
  return needed;
}

Status LayeredPaths::fits(const Topology& topology, std::string_view policy) {
  return DistanceTable::fits(topology, policy, 2, false);
}

LayeredPaths::LayeredPaths(const Topology& topology, int layers)
    : graph_(topology.graph),
      ranking_(graph_, {.by = find_layers(topology).ranked_by}),
      layers_(layers),
      distance_(topology, 2 * Ranking(graph_, RankingRule{}).depth_max() >= 0xff),
      turns_(topology, false) {
  WEFT_CHECK(layers >= 1 && layers <= max_vcs);
  std::vector<std::uint16_t> both(graph_.router_count());
  Turns turns(graph_, ranking_);
  for (const RouterId to : distance_.destinations()) {
    turns.search_from(to);
    turns.count(fewer);
    std::fill(both.begin(), both.end(), DistanceTable::unreachable);
    for (const RouterId r : turns.reached())
      both[r.index] = static_cast<std::uint16_t>(turns.rising(r) + turns.falling(r));
    for (const RouterId from : distance_.destinations())
      if (const std::uint16_t links = turns.distances()[from.index];
          links != DistanceTable::unreachable)
        hops_max_ = more(hops_max_, links);
    distance_.set(to, turns.distances());
    turns_.set(to, both);
  }
}

std::array<VcMask, max_vcs> LayeredPaths::masks(int layers, int first, int count) {
  std::array<VcMask, max_vcs> made{};
  for (int l = 0; l < layers; ++l) {
    const int begin = l * count / layers;
    made[static_cast<std::size_t>(l)] = vc_range(first + begin, (l + 1) * count / layers - begin);
  }
  return made;
}

}  // namespace weft::detail
