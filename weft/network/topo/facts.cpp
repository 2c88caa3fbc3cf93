// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/facts.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <weft/base/rng.hpp>
#include <weft/network/topo/partition.hpp>
#include <weft/network/topo/planes.hpp>
#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

constexpr std::uint32_t exact_routers_max = 4096;
constexpr std::uint32_t sample_sources = 256;

void count(const Topology& t, Facts& f) {
  const Graph& g = t.graph;
  f.nodes = t.computers();
  f.cards = t.cards;
  f.routers = g.router_count();
  f.cables = g.cable_count();
  f.cables_down = g.down_count();
  f.names_down = find_cables_down(t);
  for (const std::string& name : g.link_classes()) f.classes.push_back({name, 0});
  for (std::uint32_t r = 0; r < g.router_count(); ++r) {
    int plugged = 0;
    for (const Port& p : g.ports(RouterId(r))) {
      if (!p.connected()) continue;
      ++plugged;
      if (p.peer.index > r) ++f.classes[p.link_class].cables;
    }
    const int nodes = static_cast<int>(g.nodes_at(RouterId(r)).size());
    f.network_ports_min = r == 0 ? plugged : std::min(f.network_ports_min, plugged);
    f.network_ports_max = std::max(f.network_ports_max, plugged);
    f.nodes_min = r == 0 ? nodes : std::min(f.nodes_min, nodes);
    f.nodes_max = std::max(f.nodes_max, nodes);
  }
}

// All routers that have nodes, or an even choice of them where searching from all takes too long.
std::vector<RouterId> choose_sources(const Graph& g) {
  std::vector<RouterId> sources;
  for (std::uint32_t r = 0; r < g.router_count(); ++r)
    if (!g.nodes_at(RouterId(r)).empty()) sources.push_back(RouterId(r));
  if (g.router_count() <= exact_routers_max || sources.size() <= sample_sources) return sources;
  Rng rng(1);
  for (std::size_t i = 0; i < sample_sources; ++i)
    std::swap(sources[i], sources[i + rng.below(sources.size() - i)]);
  sources.resize(sample_sources);
  return sources;
}

// How many cards of each number a router has.
class CardCounts {
 public:
  explicit CardCounts(const Topology& t)
      : cards_(static_cast<std::size_t>(t.cards)), counts_(t.graph.router_count() * cards_) {
    for (std::uint32_t n = 0; n < t.graph.node_count(); ++n)
      ++counts_[t.graph.router_of(NodeId(n)).index * cards_ + n % cards_];
  }
  std::size_t cards() const { return cards_; }
  std::uint32_t at(RouterId r, std::size_t card) const { return counts_[r.index * cards_ + card]; }

 private:
  std::size_t cards_;
  std::vector<std::uint32_t> counts_;
};

DistanceFacts search_distances(const Topology& t) {
  const Graph& g = t.graph;
  const CardCounts counts(t);
  const std::vector<RouterId> sources = choose_sources(g);
  DistanceFacts made;
  double total = 0;
  double pairs = 0;
  double nodes_seen = 0;
  for (const RouterId source : sources) {
    const std::vector<int> away = distances_from(g, source);
    const auto here = static_cast<double>(g.nodes_at(source).size());
    for (std::size_t card = 0; card < counts.cards(); ++card) {
      if (counts.at(source, card) == 0) continue;
      double sum = 0;
      for (std::uint32_t r = 0; r < g.router_count(); ++r) {
        const std::uint32_t there = counts.at(RouterId(r), card);
        if (there == 0) continue;
        sum += away[r] * static_cast<double>(there);
        made.diameter = std::max(made.diameter, away[r]);
      }
      total += counts.at(source, card) * sum;
    }
    pairs += here * (t.computers() - 1.0);
    nodes_seen += here;
  }
  made.average = pairs > 0 ? total / pairs : 0;
  if (nodes_seen < g.node_count()) {
    made.ground = Ground::sample;
    made.sources = static_cast<std::uint32_t>(sources.size());
  }
  return made;
}

// From sums over pairs of routers that all have the same number of nodes.
DistanceFacts from_sum(const Graph& g, const DistanceSum& sum) {
  const auto p = static_cast<double>(g.nodes_at(RouterId(0)).size());
  const double nodes = g.node_count();
  return {sum.largest, nodes > 1 ? sum.total * p * p / (nodes * (nodes - 1)) : 0, Ground::exact, 0};
}

DistanceFacts find_distances(const Topology& t) {
  if (t.graph.all_up() && t.cards == 1)
    if (const auto sum = t.shape->distance_sum(t.graph)) return from_sum(t.graph, *sum);
  return search_distances(t);
}

// A half has all cards of its nodes.
Bisection find_bisection(const Topology& t) {
  if (t.graph.all_up())
    if (const auto known = t.shape->bisection()) return *known;
  const RouterSets sets = routers_of_nodes(t);
  if (sets.count < t.graph.router_count())
    if (const auto joined = join_routers(t.graph, sets))
      return {detail::search_bisection(*joined), Ground::upper_bound};
  return {detail::search_bisection(t.graph), Ground::upper_bound};
}

// Nothing joins the copies: they have the same nodes in their halves, and each pair of nodes has a
// distance in each.
void add_planes(const Topology& t, Facts& made) {
  const Planes& planes = *t.shape->planes();
  made.distance = DistanceFacts{};
  made.bisection = Bisection{};
  Facts one;
  for (int p = 0; p < planes.count; ++p) {
    if (p == 0 || !t.graph.all_up()) {
      const Topology copy = plane_of(t, p);
      one.distance = find_distances(copy);
      one.bisection = find_bisection(copy);
    }
    DistanceFacts& sum = *made.distance;
    sum.diameter = std::max(sum.diameter, one.distance->diameter);
    sum.average += one.distance->average / planes.count;
    if (one.distance->ground != Ground::exact) sum.ground = one.distance->ground;
    sum.sources += one.distance->sources;
    made.bisection->cables += one.bisection->cables;
    if (one.bisection->ground != Ground::exact) made.bisection->ground = one.bisection->ground;
  }
}

}  // namespace

std::string_view to_text(Ground ground) {
  switch (ground) {
    case Ground::exact:
      return "exact";
    case Ground::sample:
      return "sample";
    case Ground::upper_bound:
      return "upper bound";
  }
  return "";
}

Facts find_facts(const Topology& t) {
  Facts made;
  count(t, made);
  if (!validate(t)) return made;
  const Planes* const planes = t.shape->planes();
  // With rails, the ends of a copy are no nodes.
  if (planes != nullptr && planes->count > 1 && planes->count == t.cards) {
    add_planes(t, made);
    return made;
  }
  made.distance = find_distances(t);
  made.bisection = find_bisection(t);
  return made;
}

std::vector<std::string> find_cables_down(const Topology& topology) {
  std::vector<std::string> names;
  if (topology.graph.all_up()) return names;
  for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r)
    for (const Port& port : topology.graph.ports(RouterId(r)))
      if (port.connected() && !port.up && port.peer.index > r)
        names.push_back(router_name(topology, RouterId(r)) + "-" +
                        router_name(topology, port.peer));
  return names;
}

std::string list_cables(const std::vector<std::string>& names) {
  constexpr std::size_t shown_max = 8;
  std::string text = fmt::format("{}:", names.size());
  for (std::size_t i = 0; i < std::min(names.size(), shown_max); ++i)
    text += (i == 0 ? " " : ", ") + names[i];
  if (names.size() > shown_max) text += fmt::format(" and {} more", names.size() - shown_max);
  return text;
}

Status validate(const Topology& t) {
  if (t.graph.node_count() == 0) return Error::run(t.name + " has no nodes");
  const auto cut_off = find_cut_off(t.graph, t.cards);
  if (!cut_off) return {};
  return Error::run(fmt::format("node '{}' cannot be reached from node '{}' in {}",
                                node_name(t, cut_off->second), node_name(t, cut_off->first),
                                t.name));
}

}  // namespace weft
