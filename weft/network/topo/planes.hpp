// SPDX-License-Identifier: Apache-2.0
// Networks whose nodes have several cards at different routers. Planes: copies of a network side by
// side, with a card of every node in each. Rails: of each group of routers that follow each other,
// every node of the group has a card at each. Cards of the same number talk to each other.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

inline constexpr int cards_max = 16;  // Of a node.

struct CardPlan {
  int planes = 1;  // Copies of the network.
  int rails = 1;   // Routers of one copy that a node has a card at.

  int cards() const { return planes * rails; }
};

// The network of nodes that have a card at `rails` routers of each of `planes` copies of `inner`.
// Card c of a node is in copy c / rails, at router c % rails of its group. Fails where routers with
// nodes do not form groups of that size, or have different numbers of nodes.
Result<Topology> with_cards(Topology inner, const CardPlan& plan);

// One copy alone, as the network that `with_cards` was given, with the cables that are down in it.
// REQUIRES: t.shape->planes() is set, and the copy exists.
Topology plane_of(const Topology& t, int plane);

// Routers that belong together because they have cards of the same nodes, or are copies of one: the
// number of its group for each router. Groups are numbered by their first routers, without gaps.
struct RouterSets {
  std::vector<std::uint32_t> of_router;
  std::uint32_t count = 0;
};
RouterSets routers_together(const Topology& t);
// Of these, those that have cards of the same nodes only.
RouterSets routers_of_nodes(const Topology& t);

// The network with each group as one router; cables inside a group are left out.
Result<Graph> join_routers(const Graph& graph, const RouterSets& sets);

}  // namespace weft
