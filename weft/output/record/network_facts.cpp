// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <queue>

#include <weft/output/record/network_facts.hpp>

namespace weft {

namespace {

using Neighbours = std::vector<std::vector<std::uint32_t>>;

Neighbours neighbours_of(const NetworkFacts& facts) {
  Neighbours neighbours(facts.routers);
  for (std::size_t l = 0; l < facts.links(); ++l) {
    if (facts.link_to[l] >= 0)
      neighbours[static_cast<std::size_t>(facts.link_from[l])].push_back(
          static_cast<std::uint32_t>(facts.link_to[l]));
  }
  return neighbours;
}

// Strips leaves until one or two routers are left; a router's level is the round in which it is
// stripped. Returns false if there is a cycle or more than one component.
bool peel(const NetworkFacts& facts, std::vector<std::uint8_t>& level) {
  const Neighbours neighbours = neighbours_of(facts);
  std::vector<std::size_t> degree(facts.routers);
  std::vector<std::uint32_t> leaves, next;
  std::size_t ends = 0;
  for (std::uint32_t r = 0; r < facts.routers; ++r) {
    degree[r] = neighbours[r].size();
    ends += degree[r];
    if (degree[r] <= 1) leaves.push_back(r);
  }
  if (ends != 2 * (std::size_t{facts.routers} - 1)) return false;
  level.assign(facts.routers, 0);
  std::size_t gone = 0;
  for (std::uint8_t round = 0; !leaves.empty() && round < 255; ++round) {
    next.clear();
    for (const std::uint32_t leaf : leaves) {
      level[leaf] = round;
      ++gone;
      for (const std::uint32_t peer : neighbours[leaf]) {
        if (degree[peer] > 0 && --degree[peer] == 1) next.push_back(peer);
      }
      degree[leaf] = 0;
    }
    leaves.swap(next);
  }
  return gone == facts.routers;
}

void add_shape(const Topology& topology, NetworkFacts& facts) {
  const auto axes = topology.shape->axes();
  // A single axis that is fully connected has no picture as a grid.
  if (axes.size() > 1 || (!axes.empty() && axes[0].wiring != Wiring::complete)) {
    facts.family = NetworkFacts::Family::cube;
    for (const GridAxis& axis : axes) {
      facts.radix.push_back(axis.size);
      facts.wrap.push_back(axis.wiring == Wiring::ring ? 1 : 0);
    }
  } else if (topology.shape->tree() != nullptr) {
    facts.family = NetworkFacts::Family::tree;
    for (std::uint32_t r = 0; r < facts.routers; ++r)
      facts.level.push_back(static_cast<std::uint8_t>(coordinates(topology, RouterId(r))[0] - 1));
  } else {
    find_levels(facts);
    const auto blocks = topology.shape->blocks();
    if (facts.family != NetworkFacts::Family::graph || !blocks || blocks->routers != facts.routers)
      return;
    for (std::uint32_t r = 0; r < facts.routers; ++r)
      facts.group.push_back(static_cast<std::int32_t>(r / blocks->size));
  }
}

}  // namespace

void find_levels(NetworkFacts& facts) {
  if (facts.routers > 1 && peel(facts, facts.level)) {
    facts.family = NetworkFacts::Family::tree;
  } else {
    facts.level.clear();
  }
}

std::string router_name(const NetworkFacts& facts, std::uint32_t router) {
  if (facts.family != NetworkFacts::Family::cube) return facts.names[router];
  std::string text;
  for (const std::int32_t radix : facts.radix) {
    const auto size = static_cast<std::uint32_t>(radix);
    text += (text.empty() ? "(" : ",") + std::to_string(router % size);
    router /= size;
  }
  return text + ")";
}

const char* to_text(NetworkFacts::Family family) {
  switch (family) {
    case NetworkFacts::Family::cube:
      return "cube";
    case NetworkFacts::Family::tree:
      return "tree";
    case NetworkFacts::Family::graph:
      break;
  }
  return "graph";
}

NetworkFacts facts_of(const Topology& topology) {
  const Graph& graph = topology.graph;
  NetworkFacts facts;
  facts.name = topology.name;
  facts.routers = graph.router_count();
  for (std::uint32_t r = 0; r < facts.routers; ++r) {
    const auto ports = graph.ports(RouterId(r));
    for (std::size_t p = 0; p < ports.size(); ++p) {
      facts.link_from.push_back(static_cast<std::int32_t>(r));
      facts.link_port.push_back(static_cast<std::int32_t>(p));
      facts.link_to.push_back(ports[p].usable() ? static_cast<std::int32_t>(ports[p].peer.index)
                                                : -1);
    }
  }
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    facts.node_router.push_back(static_cast<std::int32_t>(graph.router_of(NodeId(n)).index));
  add_shape(topology, facts);
  if (facts.family != NetworkFacts::Family::cube) {
    for (std::uint32_t r = 0; r < facts.routers; ++r)
      facts.names.push_back(router_name(topology, RouterId(r)));
  }
  return facts;
}

}  // namespace weft
