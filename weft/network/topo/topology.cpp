// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/topology.hpp"

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/family.hpp>
#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

// A name with its number: "n17" with prefix 'n'. No leading zeros, so that names are unique.
std::optional<std::uint32_t> parse_numbered(std::string_view name, char prefix,
                                            std::uint32_t limit) {
  if (name.size() < 2 || name[0] != prefix) return std::nullopt;
  const auto value = parse_int(name.substr(1));
  if (!value || *value < 0 || *value >= limit) return std::nullopt;
  if (std::to_string(*value) != name.substr(1)) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::string suggest_few(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> words(known.begin(), known.end());
  std::string hint = suggest(word, words);
  // A list of thousands helps nobody.
  constexpr std::size_t listed_max = 10;
  return known.size() > listed_max && hint.starts_with("; known") ? "" : hint;
}

std::optional<RouterId> find_by_shape(const Topology& t, std::string_view name) {
  const auto by_tuple = [&](const auto& shape) -> std::optional<RouterId> {
    const auto c = detail::parse_tuple(name);
    return c ? detail::find_router(shape, *c) : std::nullopt;
  };
  return std::visit(Match{[&](const Cube& s) { return by_tuple(s); },
                          [&](const HyperX& s) { return by_tuple(s); },
                          [&](const FatTree& s) { return detail::find_router(s, name); },
                          [&](const Dragonfly& s) { return detail::find_router(s, name); },
                          [&](const Irregular&) -> std::optional<RouterId> {
                            const auto index = parse_numbered(name, 'r', t.graph.router_count());
                            return index ? std::optional(RouterId(*index)) : std::nullopt;
                          }},
                    t.shape);
}

}  // namespace

Coordinates coordinates(const Topology& t, RouterId r) {
  WEFT_CHECK(r.index < t.graph.router_count());
  return std::visit(Match{[&](const auto& shape) { return detail::coordinates(shape, r); },
                          [&](const Irregular&) { return Coordinates{static_cast<int>(r.index)}; }},
                    t.shape);
}

std::optional<RouterId> find_router(const Topology& t, const Coordinates& c) {
  return std::visit(Match{[&](const auto& shape) { return detail::find_router(shape, c); },
                          [&](const Irregular&) -> std::optional<RouterId> {
                            if (c.size() != 1 || c[0] < 0) return std::nullopt;
                            const RouterId r(static_cast<std::uint32_t>(c[0]));
                            if (r.index >= t.graph.router_count()) return std::nullopt;
                            return r;
                          }},
                    t.shape);
}

std::string router_name(const Topology& t, RouterId r) {
  WEFT_CHECK(r.index < t.graph.router_count());
  if (!t.graph.router_names().empty()) return t.graph.router_names()[r.index];
  return std::visit(
      Match{[&](const Cube& s) { return detail::tuple_text(detail::coordinates(s, r)); },
            [&](const HyperX& s) { return detail::tuple_text(detail::coordinates(s, r)); },
            [&](const FatTree& s) { return detail::router_name(s, r); },
            [&](const Dragonfly& s) { return detail::router_name(s, r); },
            [&](const Irregular&) { return "r" + std::to_string(r.index); }},
      t.shape);
}

std::string node_name(const Topology& t, NodeId n) {
  WEFT_CHECK(n.index < t.graph.node_count());
  if (!t.graph.node_names().empty()) return t.graph.node_names()[n.index];
  return "n" + std::to_string(n.index);
}

Result<RouterId> find_router(const Topology& t, std::string_view name) {
  const auto found =
      t.graph.router_names().empty() ? find_by_shape(t, name) : t.graph.find_router(name);
  if (found) return *found;
  if (!t.graph.router_names().empty())
    return Error::input(fmt::format("no router '{}' in {}{}", name, t.name,
                                    suggest_few(name, t.graph.router_names())));
  return Error::input(fmt::format("no router '{}' in {}; they are called '{}' to '{}'", name,
                                  t.name, router_name(t, RouterId(0)),
                                  router_name(t, RouterId(t.graph.router_count() - 1))));
}

Result<NodeId> find_node(const Topology& t, std::string_view name) {
  if (!t.graph.node_names().empty()) {
    if (const auto found = t.graph.find_node(name)) return *found;
    return Error::input(
        fmt::format("no node '{}' in {}{}", name, t.name, suggest_few(name, t.graph.node_names())));
  }
  if (const auto index = parse_numbered(name, 'n', t.graph.node_count())) return NodeId(*index);
  if (t.graph.node_count() == 0)
    return Error::input(fmt::format("no node '{}': {} has no nodes", name, t.name));
  return Error::input(fmt::format("no node '{}' in {}; they are called 'n0' to 'n{}'", name, t.name,
                                  t.graph.node_count() - 1));
}

int distance(const Topology& t, RouterId from, RouterId to) {
  WEFT_CHECK(from.index < t.graph.router_count() && to.index < t.graph.router_count());
  if (!t.graph.all_up()) return distances_from(t.graph, from)[to.index];
  return std::visit(
      Match{[&](const auto& shape) { return detail::distance(shape, from, to); },
            [&](const Dragonfly& s) { return detail::distance(s, t.graph, from, to); },
            [&](const Irregular&) { return distances_from(t.graph, from)[to.index]; }},
      t.shape);
}

}  // namespace weft
