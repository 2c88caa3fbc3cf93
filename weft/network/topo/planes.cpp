// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/planes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/family.hpp>

namespace weft {
namespace {

// Routers of several copies are called "p1:(0,3)"; of one they keep their names.
class PlanesShape final : public Shape {
 public:
  explicit PlanesShape(Planes planes) : planes_(std::move(planes)) {}

  Coordinates coordinates(RouterId r) const override {
    Coordinates c = planes_.shape->coordinates(inner(r));
    if (planes_.count > 1) c.insert(c.begin(), static_cast<int>(plane(r)));
    return c;
  }
  std::optional<RouterId> find_router(const Coordinates& c) const override {
    if (planes_.count == 1) return planes_.shape->find_router(c);
    if (c.empty() || c[0] < 0) return std::nullopt;
    return outer(c[0], planes_.shape->find_router(Coordinates(c.begin() + 1, c.end())));
  }
  std::string router_name(RouterId r) const override {
    return plane_prefix(planes_.count, plane(r)) + planes_.shape->router_name(inner(r));
  }
  std::optional<RouterId> find_router(std::string_view name) const override {
    if (planes_.count == 1) return planes_.shape->find_router(name);
    const std::size_t colon = name.find(':');
    const auto number = detail::parse_numbered(name.substr(0, colon), 'p');
    if (!number || colon == std::string_view::npos) return std::nullopt;
    return outer(static_cast<int>(*number), planes_.shape->find_router(name.substr(colon + 1)));
  }
  std::optional<int> diameter_max() const override {
    // With cards at several routers a node may be nearer than its router.
    return planes_.shape->diameter_max();
  }
  const Planes* planes() const override { return &planes_; }

  static std::string plane_prefix(int planes, std::uint32_t plane) {
    return planes == 1 ? "" : fmt::format("p{}:", plane);
  }

 private:
  std::uint32_t plane(RouterId r) const { return r.index / planes_.routers; }
  RouterId inner(RouterId r) const { return RouterId(r.index % planes_.routers); }
  std::optional<RouterId> outer(int plane, std::optional<RouterId> r) const {
    if (!r || plane >= planes_.count || r->index >= planes_.routers) return std::nullopt;
    return RouterId(static_cast<std::uint32_t>(plane) * planes_.routers + r->index);
  }

  Planes planes_;
};

// Adds the routers and cables of one copy.
void add_copy(const Graph& g, std::uint32_t first_router, Graph::Parts& parts) {
  for (std::uint32_t r = 0; r < g.router_count(); ++r) {
    const auto ports = g.ports(RouterId(r));
    parts.port_count.push_back(static_cast<std::uint16_t>(ports.size()));
    for (std::size_t p = 0; p < ports.size(); ++p)
      if (ports[p].connected() && ports[p].peer.index > r)
        parts.cables.push_back({RouterId(first_router + r), static_cast<std::uint16_t>(p),
                                RouterId(first_router + ports[p].peer.index), ports[p].peer_port,
                                ports[p].link_class, ports[p].up});
  }
}

// The nodes of one copy, in the order of the nodes of the whole: card after card of each.
Result<std::vector<std::uint32_t>> order_cards(const Graph& g, int rails) {
  std::vector<std::uint32_t> order;
  const auto width = static_cast<std::uint32_t>(rails);
  if (width == 1) {
    order.resize(g.node_count());
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }
  std::vector<RouterId> ends;
  for (std::uint32_t r = 0; r < g.router_count(); ++r)
    if (!g.nodes_at(RouterId(r)).empty()) ends.push_back(RouterId(r));
  if (ends.size() % width != 0)
    return Error::input(
        fmt::format("rails = {}: the {} routers with nodes do not form groups of {}; give a number "
                    "that divides {}",
                    rails, ends.size(), rails, ends.size()));
  for (std::size_t first = 0; first < ends.size(); first += width) {
    const std::size_t nodes = g.nodes_at(ends[first]).size();
    for (std::size_t i = 0; i < width; ++i)
      if (g.nodes_at(ends[first + i]).size() != nodes)
        return Error::input(fmt::format(
            "rails = {}: routers of a group need the same number of nodes, but have {} and {}",
            rails, nodes, g.nodes_at(ends[first + i]).size()));
    for (std::size_t n = 0; n < nodes; ++n)
      for (std::size_t i = 0; i < width; ++i) order.push_back(g.nodes_at(ends[first + i])[n].index);
  }
  return order;
}

Status check_plan(const Graph& g, const CardPlan& plan) {
  if (plan.cards() > cards_max)
    return Error::input(
        fmt::format("planes = {} and rails = {} make {} cards of a node, but at "
                    "most {} are possible",
                    plan.planes, plan.rails, plan.cards(), cards_max));
  const auto planes = static_cast<std::uint64_t>(plan.planes);
  return detail::check_limits(g.router_count() * planes, g.node_count() * planes,
                              g.cable_count() * planes);
}

void add_names(const Graph& g, const CardPlan& plan, const Planes& planes, Graph::Parts& parts) {
  if (!g.router_names().empty()) {
    for (int p = 0; p < plan.planes; ++p)
      for (const std::string& name : g.router_names())
        parts.router_names.push_back(
            PlanesShape::plane_prefix(plan.planes, static_cast<std::uint32_t>(p)) + name);
  }
  if (g.node_names().empty()) return;
  // A node is called as its first card is in the copy.
  const auto cards = static_cast<std::size_t>(plan.cards());
  for (std::size_t e = 0; e < planes.end.size(); ++e)
    parts.node_names.push_back(
        fmt::format("{}.{}", g.node_names()[planes.end[e - e % cards]], e % cards));
}

RouterSets number_sets(std::vector<std::uint32_t>& leader) {
  RouterSets sets;
  sets.of_router.resize(leader.size());
  for (std::uint32_t r = 0; r < leader.size(); ++r) {
    std::uint32_t first = r;
    while (leader[first] != first) first = leader[first];
    leader[r] = first;
    sets.of_router[r] = first == r ? sets.count++ : sets.of_router[first];
  }
  return sets;
}

// Leaders have lower numbers than those they lead.
void unite(std::vector<std::uint32_t>& leader, std::uint32_t a, std::uint32_t b) {
  while (leader[a] != a) a = leader[a] = leader[leader[a]];
  while (leader[b] != b) b = leader[b] = leader[leader[b]];
  leader[std::max(a, b)] = std::min(a, b);
}

std::vector<std::uint32_t> unite_by_nodes(const Topology& t) {
  std::vector<std::uint32_t> leader(t.graph.router_count());
  std::iota(leader.begin(), leader.end(), 0u);
  const auto cards = static_cast<std::uint32_t>(t.cards);
  if (cards == 1) return leader;
  for (std::uint32_t e = 0; e < t.graph.node_count(); ++e)
    unite(leader, t.graph.router_of(NodeId(e)).index,
          t.graph.router_of(NodeId(e - e % cards)).index);
  return leader;
}

}  // namespace

Result<Topology> with_cards(Topology inner, const CardPlan& plan) {
  WEFT_CHECK(plan.planes > 0 && plan.rails > 0 && inner.cards == 1);
  if (plan.cards() == 1) return inner;
  const Graph& g = inner.graph;
  if (Status s = check_plan(g, plan); !s) return std::move(s).error();
  auto order = order_cards(g, plan.rails);
  if (!order) return std::move(order).error();
  Planes planes{plan.planes, g.router_count(), inner.shape, {}};
  Graph::Parts parts;
  for (int p = 0; p < plan.planes; ++p)
    add_copy(g, static_cast<std::uint32_t>(p) * planes.routers, parts);
  const auto rails = static_cast<std::size_t>(plan.rails);
  for (std::size_t first = 0; first < order->size(); first += rails)
    for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(plan.planes); ++p)
      for (std::size_t i = 0; i < rails; ++i) {
        const NodeId end((*order)[first + i]);
        planes.end.push_back(end.index);
        parts.router_of.push_back(RouterId(p * planes.routers + g.router_of(end).index));
      }
  parts.link_classes = g.link_classes();
  add_names(g, plan, planes, parts);
  auto graph = Graph::make(std::move(parts));
  if (!graph) return std::move(graph).error();
  std::string name = inner.name;
  if (plan.planes > 1) name += fmt::format(",planes={}", plan.planes);
  if (plan.rails > 1) name += fmt::format(",rails={}", plan.rails);
  return Topology{std::move(name), std::make_shared<const PlanesShape>(std::move(planes)),
                  *std::move(graph), plan.cards()};
}

Topology plane_of(const Topology& t, int plane) {
  const Planes* const planes = t.shape->planes();
  WEFT_CHECK(planes != nullptr && plane >= 0 && plane < planes->count);
  const Graph& g = t.graph;
  const std::uint32_t first = static_cast<std::uint32_t>(plane) * planes->routers;
  Graph::Parts parts;
  for (std::uint32_t r = 0; r < planes->routers; ++r) {
    const auto ports = g.ports(RouterId(first + r));
    parts.port_count.push_back(static_cast<std::uint16_t>(ports.size()));
    for (std::size_t p = 0; p < ports.size(); ++p)
      if (ports[p].connected() && ports[p].peer.index > first + r)
        parts.cables.push_back({RouterId(r), static_cast<std::uint16_t>(p),
                                RouterId(ports[p].peer.index - first), ports[p].peer_port,
                                ports[p].link_class, ports[p].up});
  }
  parts.router_of.resize(g.node_count() / static_cast<std::uint32_t>(planes->count));
  for (std::uint32_t e = 0; e < g.node_count(); ++e) {
    const std::uint32_t router = g.router_of(NodeId(e)).index;
    if (router / planes->routers == static_cast<std::uint32_t>(plane))
      parts.router_of[planes->end[e]] = RouterId(router - first);
  }
  parts.link_classes = g.link_classes();
  auto graph = Graph::make(std::move(parts));
  WEFT_CHECK(graph);
  return Topology{t.name, planes->shape, *std::move(graph), 1};
}

RouterSets routers_of_nodes(const Topology& t) {
  std::vector<std::uint32_t> leader = unite_by_nodes(t);
  return number_sets(leader);
}

RouterSets routers_together(const Topology& t) {
  std::vector<std::uint32_t> leader = unite_by_nodes(t);
  if (const Planes* const planes = t.shape->planes(); planes != nullptr)
    for (std::uint32_t r = planes->routers; r < t.graph.router_count(); ++r)
      unite(leader, r, r % planes->routers);
  return number_sets(leader);
}

Result<Graph> join_routers(const Graph& graph, const RouterSets& sets) {
  std::vector<std::uint32_t> ports(sets.count, 0);
  std::vector<std::uint32_t> first_port;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    std::uint32_t& count = ports[sets.of_router[r]];
    first_port.push_back(count);
    count += static_cast<std::uint32_t>(graph.ports(RouterId(r)).size());
  }
  Graph::Parts parts;
  for (const std::uint32_t count : ports) {
    if (count > std::numeric_limits<std::uint16_t>::max())
      return Error::input("routers that share nodes have more than 65535 ports together");
    parts.port_count.push_back(static_cast<std::uint16_t>(count));
  }
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    const auto here = graph.ports(RouterId(r));
    for (std::size_t p = 0; p < here.size(); ++p) {
      const Port& port = here[p];
      if (!port.connected() || port.peer.index < r ||
          sets.of_router[r] == sets.of_router[port.peer.index])
        continue;
      parts.cables.push_back(
          {RouterId(sets.of_router[r]), static_cast<std::uint16_t>(first_port[r] + p),
           RouterId(sets.of_router[port.peer.index]),
           static_cast<std::uint16_t>(first_port[port.peer.index] + port.peer_port),
           port.link_class, port.up});
    }
  }
  for (std::uint32_t e = 0; e < graph.node_count(); ++e)
    parts.router_of.push_back(RouterId(sets.of_router[graph.router_of(NodeId(e)).index]));
  parts.link_classes = graph.link_classes();
  return Graph::make(std::move(parts));
}

}  // namespace weft
