// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/up_down_paths.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <weft/network/route/distance_table.hpp>

namespace weft::detail {
namespace {

constexpr std::uint16_t unreachable = DistanceTable::unreachable;

// What the busiest link carries limits throughput, all links together say how long paths are; the
// product weighs a tenth of the one like a tenth of the other.
double score_of(const Graph& graph, const Ranking& ranking,
                std::span<const RouterId> destinations) {
  UpDownPaths paths(graph, ranking);
  std::vector<double> load(graph.link_count(), 0);
  for (const RouterId to : destinations) {
    paths.search(to);
    paths.pour(to, load);
  }
  return *std::max_element(load.begin(), load.end()) *
         std::accumulate(load.begin(), load.end(), 0.0);
}

// Routers with nodes: all, or as many as a fraction of a second allows, evenly chosen.
std::vector<RouterId> sample_destinations(const Graph& graph) {
  std::vector<RouterId> all;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    if (!graph.nodes_at(RouterId(r)).empty()) all.push_back(RouterId(r));
  const std::uint64_t links = std::max<std::uint64_t>(1, graph.link_count());
  const std::uint64_t count = std::clamp<std::uint64_t>(2'000'000 / links, 8, 1 << 20);
  if (all.size() <= count) return all;
  std::vector<RouterId> chosen;
  for (std::uint64_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

}  // namespace

UpDownPaths::UpDownPaths(const Graph& graph, const Ranking& ranking)
    : graph_(graph),
      ranking_(ranking),
      down_(graph.router_count()),
      legal_(graph.router_count()),
      rising_flow_(graph.router_count()),
      falling_flow_(graph.router_count()) {}

void UpDownPaths::search(RouterId to) {
  search_down(to);
  // In order of rank the routers above are done first.
  for (const RouterId r : ranking_.order()) {
    int best = down_[r.index];
    for (const Port& port : graph_.ports(r))
      if (port.usable() && ranking_.is_up(r, port.peer) && legal_[port.peer.index] != unreachable)
        best = std::min(best, legal_[port.peer.index] + 1);
    legal_[r.index] = static_cast<std::uint16_t>(best);
  }
}

// Backwards from the destination over steps that go down.
void UpDownPaths::search_down(RouterId to) {
  std::fill(down_.begin(), down_.end(), unreachable);
  queue_.assign(1, to);
  down_[to.index] = 0;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const RouterId at = queue_[head];
    for (const Port& port : graph_.ports(at)) {
      if (!port.usable() || !ranking_.is_up(at, port.peer) || down_[port.peer.index] != unreachable)
        continue;
      down_[port.peer.index] = static_cast<std::uint16_t>(down_[at.index] + 1);
      queue_.push_back(port.peer);
    }
  }
}

void UpDownPaths::pour(RouterId to, std::vector<double>& load) {
  for (auto* const routers : {&rising_at_, &falling_at_})
    for (std::vector<RouterId>& some : *routers) some.clear();
  const auto put = [](std::vector<std::vector<RouterId>>& at, std::uint16_t length, RouterId r) {
    if (length == unreachable) return;
    if (at.size() <= length) at.resize(length + std::size_t{1});
    at[length].push_back(r);
  };
  const auto here = static_cast<double>(graph_.nodes_at(to).size());
  for (std::uint32_t i = 0; i < graph_.router_count(); ++i) {
    const RouterId r(i);
    rising_flow_[i] = here * static_cast<double>(graph_.nodes_at(r).size());
    falling_flow_[i] = 0;
    put(rising_at_, legal_[i], r);
    put(falling_at_, down_[i], r);
  }
  // From the longest ways on, so that all of a router's flow has come before it is sent on.
  for (std::size_t left = std::max(rising_at_.size(), falling_at_.size()); left-- > 1;) {
    if (left < rising_at_.size())
      for (const RouterId r : rising_at_[left]) pour_on(r, false, load);
    if (left < falling_at_.size())
      for (const RouterId r : falling_at_[left]) pour_on(r, true, load);
  }
}

void UpDownPaths::pour_on(RouterId r, bool falling, std::vector<double>& load) {
  const double flow = (falling ? falling_flow_ : rising_flow_)[r.index];
  if (flow == 0) return;
  const int left = (falling ? down_ : legal_)[r.index];
  const auto ports = graph_.ports(r);
  const auto fits = [&](const Port& port) {
    if (!port.usable()) return false;
    const bool up = ranking_.is_up(r, port.peer);
    return !(falling && up) && (up ? legal_ : down_)[port.peer.index] + 1 == left;
  };
  const auto count = std::count_if(ports.begin(), ports.end(), fits);
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (!fits(ports[p])) continue;
    const double share = flow / static_cast<double>(count);
    load[graph_.link(r, static_cast<int>(p)).index] += share;
    (ranking_.is_up(r, ports[p].peer) ? rising_flow_ : falling_flow_)[ports[p].peer.index] += share;
  }
}

Ranking choose_ranking(const Graph& graph) {
  using By = RankingRule::By;
  const RouterId centre = find_centre(graph, RouterId(0));
  std::vector<RankingRule> rules = {{By::distance, centre}, {By::cables_then_last, centre}};
  // In an uneven graph the centre may be a bad place to meet.
  for (const std::uint32_t quarter : {0u, 1u, 2u}) {
    const RouterId first(graph.router_count() / 4 * quarter);
    rules.push_back({By::distance, first});
    rules.push_back({By::cables_then_last, first});
  }
  // In an even one much depends on the choice among equals.
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    rules.push_back({By::cables, centre, seed});
    rules.push_back({By::cables_then_last, centre, seed});
  }
  const std::vector<RouterId> destinations = sample_destinations(graph);
  std::optional<Ranking> best;
  double best_score = 0;
  for (const RankingRule& rule : rules) {
    Ranking ranking(graph, rule);
    const double score = score_of(graph, ranking, destinations);
    // By more than what the order of additions can do.
    if (best && score >= best_score * 0.999) continue;
    best = std::move(ranking);
    best_score = score;
  }
  return *std::move(best);
}

}  // namespace weft::detail
