// SPDX-License-Identifier: Apache-2.0
// What families of networks share when they are made: grids, names, nodes at routers.
#include "weft/network/topo/family.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include <weft/base/text.hpp>

namespace weft::detail {

GridShape::GridShape(std::vector<GridAxis> axes) : axes_(std::move(axes)) {}

Coordinates GridShape::coordinates(RouterId r) const {
  Coordinates c;
  std::uint32_t rest = r.index;
  for (const GridAxis& axis : axes_) {
    c.push_back(static_cast<int>(rest % static_cast<std::uint32_t>(axis.size)));
    rest /= static_cast<std::uint32_t>(axis.size);
  }
  return c;
}

std::optional<RouterId> GridShape::find_router(const Coordinates& c) const {
  if (c.size() != axes_.size()) return std::nullopt;
  std::uint32_t index = 0;
  for (std::size_t d = axes_.size(); d-- > 0;) {
    if (c[d] < 0 || c[d] >= axes_[d].size) return std::nullopt;
    index = index * static_cast<std::uint32_t>(axes_[d].size) + static_cast<std::uint32_t>(c[d]);
  }
  return RouterId(index);
}

std::string GridShape::router_name(RouterId r) const {
  return tuple_text(coordinates(r));
}

std::optional<RouterId> GridShape::find_router(std::string_view name) const {
  const auto c = parse_tuple(name);
  return c ? find_router(*c) : std::nullopt;
}

std::optional<int> DiameterTwoShape::distance(const Graph& graph, RouterId from,
                                              RouterId to) const {
  if (from == to) return 0;
  const auto ports = graph.ports(from);
  return std::any_of(ports.begin(), ports.end(), [&](const Port& p) { return p.peer == to; }) ? 1
                                                                                              : 2;
}

std::optional<DistanceSum> DiameterTwoShape::distance_sum(const Graph& graph) const {
  const double routers = graph.router_count();
  const double neighbours = 2.0 * graph.cable_count();
  return DistanceSum{2 * routers * (routers - 1) - neighbours, 2};
}

Result<Graph> make_graph(EdgeList list) {
  for (Edge& e : list.edges)
    if (e.a > e.b) std::swap(e.a, e.b);
  // Seen from either end, neighbours come in rising order: first those below, then those above.
  std::sort(list.edges.begin(), list.edges.end(),
            [](const Edge& x, const Edge& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  std::vector<std::uint32_t> below(list.routers, 0), degree(list.routers, 0);
  for (const Edge& e : list.edges) {
    ++below[e.b];
    ++degree[e.a];
    ++degree[e.b];
  }
  Graph::Parts parts;
  for (const std::uint32_t count : degree) {
    if (count > std::numeric_limits<std::uint16_t>::max())
      return Error::input("a router would have more than 65535 ports");
    parts.port_count.push_back(static_cast<std::uint16_t>(count));
  }
  std::vector<std::uint32_t> next_above = std::move(below);
  std::vector<std::uint32_t> next_below(list.routers, 0);
  parts.cables.reserve(list.edges.size());
  for (const Edge& e : list.edges)
    parts.cables.push_back({RouterId(e.a), static_cast<std::uint16_t>(next_above[e.a]++),
                            RouterId(e.b), static_cast<std::uint16_t>(next_below[e.b]++),
                            e.link_class, true});
  parts.router_of = place_nodes(list.routers, list.nodes_per_router);
  parts.link_classes = std::move(list.link_classes);
  return Graph::make(std::move(parts));
}

std::vector<RouterId> place_nodes(std::uint64_t routers, int p) {
  std::vector<RouterId> router_of;
  router_of.reserve(routers * static_cast<std::uint64_t>(p));
  for (std::uint32_t r = 0; r < routers; ++r)
    router_of.insert(router_of.end(), static_cast<std::size_t>(p), RouterId(r));
  return router_of;
}

std::string dimension_name(int dimension) {
  constexpr std::string_view letters = "xyzabc";
  const auto at = static_cast<std::size_t>(dimension);
  return at < letters.size() ? std::string(1, letters[at]) : "d" + std::to_string(dimension);
}

std::string spec_name(std::string_view kind, const std::string& sizes, int p) {
  return fmt::format("{}:{}{}", kind, sizes, nodes_text(p));
}

std::string nodes_text(int p) {
  return p == 1 ? "" : fmt::format(",p={}", p);
}

std::string tuple_text(const Coordinates& c) {
  std::string text = "(";
  for (std::size_t d = 0; d < c.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(c[d]);
  return text + ")";
}

std::optional<Coordinates> parse_tuple(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return std::nullopt;
  Coordinates c;
  for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
    const auto value = parse_int(trim(part));
    if (!value || *value < 0 || *value > static_cast<int>(max_routers)) return std::nullopt;
    c.push_back(static_cast<int>(*value));
  }
  return c;
}

std::optional<std::uint32_t> parse_numbered(std::string_view name, char prefix) {
  if (name.size() < 2 || name[0] != prefix) return std::nullopt;
  const auto value = parse_int(name.substr(1));
  if (!value || *value < 0 || *value > 0xffffffff) return std::nullopt;
  if (std::to_string(*value) != name.substr(1)) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

}  // namespace weft::detail
