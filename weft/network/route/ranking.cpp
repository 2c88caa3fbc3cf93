// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/ranking.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <weft/network/route/distance_table.hpp>

namespace weft::detail {
namespace {

constexpr std::uint32_t unranked = 0xffffffffu;

// The centre makes the tree shallow; where finding it costs too much, the most connected router.
RouterId find_root(const Graph& graph, std::vector<RouterId> members) {
  std::sort(members.begin(), members.end());
  const bool search_all = std::uint64_t{members.size()} * graph.link_count() < 200'000'000;
  std::vector<std::uint16_t> distances(graph.router_count());
  std::vector<RouterId> queue;
  RouterId best = members.front();
  int best_score = std::numeric_limits<int>::min();
  for (const RouterId m : members) {
    const auto ports = graph.ports(m);
    const int score =
        search_all ? -search(graph, m, distances, queue)
                   : static_cast<int>(std::count_if(ports.begin(), ports.end(),
                                                    [](const Port& p) { return p.usable(); }));
    if (score > best_score) {
      best = m;
      best_score = score;
    }
  }
  return best;
}

}  // namespace

Ranking::Ranking(const Graph& graph) : rank_(graph.router_count(), unranked) {
  std::vector<std::uint16_t> distances(graph.router_count());
  std::vector<RouterId> members;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    if (rank_[r] != unranked) continue;
    search(graph, RouterId(r), distances, members);
    const RouterId root = find_root(graph, members);
    depth_max_ = std::max(depth_max_, search(graph, root, distances, members));
    std::stable_sort(members.begin(), members.end(), [&](RouterId a, RouterId b) {
      return std::pair(distances[a.index], a.index) < std::pair(distances[b.index], b.index);
    });
    for (const RouterId m : members) {
      rank_[m.index] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(m);
    }
  }
}

}  // namespace weft::detail
