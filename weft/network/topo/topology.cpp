// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/topology.hpp"

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/family.hpp>
#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

std::string suggest_few(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> words(known.begin(), known.end());
  std::string hint = suggest(word, words);
  // A list of thousands is of no help.
  constexpr std::size_t listed_max = 10;
  return known.size() > listed_max && hint.starts_with("; known") ? "" : hint;
}

// A shape does not know how many routers there are.
std::optional<RouterId> existing(const Topology& t, std::optional<RouterId> r) {
  return r && r->index < t.graph.router_count() ? r : std::nullopt;
}

}  // namespace

Coordinates coordinates(const Topology& t, RouterId r) {
  WEFT_CHECK(r.index < t.graph.router_count());
  return t.shape->coordinates(r);
}

std::optional<RouterId> find_router(const Topology& t, const Coordinates& c) {
  return existing(t, t.shape->find_router(c));
}

std::string router_name(const Topology& t, RouterId r) {
  WEFT_CHECK(r.index < t.graph.router_count());
  if (!t.graph.router_names().empty()) return t.graph.router_names()[r.index];
  return t.shape->router_name(r);
}

std::string node_name(const Topology& t, NodeId n) {
  WEFT_CHECK(n.index < t.graph.node_count());
  if (!t.graph.node_names().empty()) return t.graph.node_names()[n.index];
  return "n" + std::to_string(n.index);
}

Result<RouterId> find_router(const Topology& t, std::string_view name) {
  const auto found = t.graph.router_names().empty() ? existing(t, t.shape->find_router(name))
                                                    : t.graph.find_router(name);
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
  const auto index = detail::parse_numbered(name, 'n');
  if (index && *index < t.graph.node_count()) return NodeId(*index);
  if (t.graph.node_count() == 0)
    return Error::input(fmt::format("no node '{}': {} has no nodes", name, t.name));
  return Error::input(fmt::format("no node '{}' in {}; they are called 'n0' to 'n{}'", name, t.name,
                                  t.graph.node_count() - 1));
}

int distance(const Topology& t, RouterId from, RouterId to) {
  WEFT_CHECK(from.index < t.graph.router_count() && to.index < t.graph.router_count());
  if (t.graph.all_up())
    if (const auto known = t.shape->distance(t.graph, from, to)) return *known;
  return distances_from(t.graph, from)[to.index];
}

}  // namespace weft
