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
  if (t.shape->planes() == nullptr) return "n" + std::to_string(n.index);
  const auto cards = static_cast<std::uint32_t>(t.cards);
  return fmt::format("n{}.{}", n.index / cards, n.index % cards);
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

// Where the cards of a node are at several routers: "n3" is its first, "n3.1" its second.
static std::optional<std::uint32_t> find_card(const Topology& t, std::string_view name) {
  const std::size_t dot = name.find('.');
  const auto node = detail::parse_numbered(name.substr(0, dot), 'n');
  if (t.shape->planes() == nullptr) return dot == std::string_view::npos ? node : std::nullopt;
  const auto card =
      dot == std::string_view::npos ? Result<std::int64_t>(0) : parse_int(name.substr(dot + 1));
  if (!node || *node >= t.computers() || !card || *card < 0 || *card >= t.cards)
    return std::nullopt;
  return *node * static_cast<std::uint32_t>(t.cards) + static_cast<std::uint32_t>(*card);
}

Result<NodeId> find_node(const Topology& t, std::string_view name) {
  if (!t.graph.node_names().empty()) {
    if (const auto found = t.graph.find_node(name)) return *found;
    return Error::input(
        fmt::format("no node '{}' in {}{}", name, t.name, suggest_few(name, t.graph.node_names())));
  }
  const auto index = find_card(t, name);
  if (index && *index < t.graph.node_count()) return NodeId(*index);
  if (t.graph.node_count() == 0)
    return Error::input(fmt::format("no node '{}': {} has no nodes", name, t.name));
  return Error::input(fmt::format("no node '{}' in {}; they are called '{}' to '{}'", name, t.name,
                                  node_name(t, NodeId(0)),
                                  node_name(t, NodeId(t.graph.node_count() - 1))));
}

int distance(const Topology& t, RouterId from, RouterId to) {
  WEFT_CHECK(from.index < t.graph.router_count() && to.index < t.graph.router_count());
  if (t.graph.all_up())
    if (const auto known = t.shape->distance(t.graph, from, to)) return *known;
  return distances_from(t.graph, from)[to.index];
}

}  // namespace weft
