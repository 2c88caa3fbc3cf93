// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/ranking.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include <weft/base/rng.hpp>
#include <weft/network/route/distance_table.hpp>

namespace weft::detail {
namespace {

constexpr std::uint32_t unranked = 0xffffffffu;

std::vector<RouterId> order_by_distance(const Graph& graph, RouterId first) {
  std::vector<std::uint16_t> distances(graph.router_count());
  std::vector<RouterId> members;
  search(graph, first, distances, members);
  std::stable_sort(members.begin(), members.end(), [&](RouterId a, RouterId b) {
    return std::pair(distances[a.index], a.index) < std::pair(distances[b.index], b.index);
  });
  return members;
}

struct Candidate {
  std::uint32_t cables, reached;
  std::uint64_t tie;
  std::uint32_t router;
  bool operator<(const Candidate& other) const {
    return std::tuple(cables, reached, other.tie) < std::tuple(other.cables, other.reached, tie);
  }
};

std::vector<RouterId> order_by_cables(const Graph& graph, RouterId first, const RankingRule& rule) {
  const bool by_last = rule.by == RankingRule::By::cables_then_last;
  std::vector<std::uint32_t> cables(graph.router_count(), 0);
  std::vector<bool> placed(graph.router_count(), false);
  std::priority_queue<Candidate> candidates;
  std::vector<RouterId> order;
  candidates.push({0, 0, 0, first.index});
  while (!candidates.empty()) {
    const Candidate next = candidates.top();
    candidates.pop();
    // Each further cable has entered the router once more.
    if (placed[next.router] || next.cables != cables[next.router]) continue;
    placed[next.router] = true;
    order.push_back(RouterId(next.router));
    const std::uint32_t reached = by_last ? static_cast<std::uint32_t>(order.size()) : 0;
    for (const Port& port : graph.ports(RouterId(next.router))) {
      const std::uint32_t peer = port.peer.index;
      if (!port.usable() || placed[peer]) continue;
      const std::uint64_t tie =
          rule.seed == 0 ? peer : mix((std::uint64_t{rule.seed} << 32) | peer);
      candidates.push({++cables[peer], reached, tie, peer});
    }
  }
  return order;
}

}  // namespace

// Where a search from every router costs too much, the most connected one.
RouterId find_centre(const Graph& graph, RouterId member) {
  std::vector<std::uint16_t> distances(graph.router_count());
  std::vector<RouterId> queue;
  search(graph, member, distances, queue);
  std::vector<RouterId> members = queue;
  std::sort(members.begin(), members.end());
  const bool search_all = std::uint64_t{members.size()} * graph.link_count() < 50'000'000;
  RouterId best = members.front();
  std::pair best_score(std::numeric_limits<std::int64_t>::max(), std::int64_t{0});
  for (const RouterId m : members) {
    std::pair<std::int64_t, std::int64_t> score;  // Less is better.
    if (search_all) {
      score.first = search(graph, m, distances, queue);
      for (const RouterId r : queue) score.second += distances[r.index];
    } else {
      const auto ports = graph.ports(m);
      score.first =
          -std::count_if(ports.begin(), ports.end(), [](const Port& p) { return p.usable(); });
    }
    if (score < best_score) {
      best = m;
      best_score = score;
    }
  }
  return best;
}

void Ranking::place_by_height(const Graph& graph) {
  std::vector<std::uint32_t> height(graph.router_count(), unranked);
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    if (!graph.nodes_at(RouterId(r)).empty()) {
      height[r] = 0;
      order_.push_back(RouterId(r));
    }
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (const Port& port : graph.ports(order_[i]))
      if (port.usable() && height[port.peer.index] == unranked) {
        height[port.peer.index] = height[order_[i].index] + 1;
        order_.push_back(port.peer);
      }
  // What no node reaches comes first, and is on nobody's way.
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    if (height[r] == unranked) order_.push_back(RouterId(r));
  std::sort(order_.begin(), order_.end(), [&](RouterId a, RouterId b) {
    return std::pair(height[b.index], a.index) < std::pair(height[a.index], b.index);
  });
  for (std::size_t i = 0; i < order_.size(); ++i)
    rank_[order_[i].index] = static_cast<std::uint32_t>(i);
}

Ranking::Ranking(const Graph& graph, const RankingRule& rule)
    : rank_(graph.router_count(), unranked) {
  if (rule.by == RankingRule::By::height) {
    place_by_height(graph);
    find_depths(graph);
    return;
  }
  const auto place = [&](RouterId from) {
    for (const RouterId m : rule.by == RankingRule::By::distance
                                ? order_by_distance(graph, from)
                                : order_by_cables(graph, from, rule)) {
      rank_[m.index] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(m);
    }
  };
  if (rule.first) place(*rule.first);
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    if (rank_[r] == unranked) place(find_centre(graph, RouterId(r)));
  find_depths(graph);
}

void Ranking::find_depths(const Graph& graph) {
  std::vector<int> depth(graph.router_count(), 0);
  for (const RouterId r : order_) {
    int above = std::numeric_limits<int>::max();
    for (const Port& port : graph.ports(r))
      if (port.usable() && is_up(r, port.peer)) above = std::min(above, depth[port.peer.index]);
    if (above == std::numeric_limits<int>::max()) continue;  // The first of its component.
    depth[r.index] = above + 1;
    depth_max_ = std::max(depth_max_, above + 1);
  }
}

}  // namespace weft::detail
