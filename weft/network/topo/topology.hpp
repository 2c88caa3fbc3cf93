// SPDX-License-Identifier: Apache-2.0
// A network: its graph, and the shape that answers for its family in closed form. What holds for
// any graph (distance by search, links) needs no shape.
#pragma once  // Public, for networks: stays within 0.1; shapes and fields may be added.

#include <optional>
#include <string>
#include <string_view>

#include <weft/base/id.hpp>
#include <weft/base/result.hpp>
#include <weft/network/topo/graph.hpp>
#include <weft/network/topo/shape.hpp>

namespace weft {

struct Topology {
  std::string name;  // The canonical short spec ("torus:4x4,p=2") or the file it came from.
  ShapeRef shape = plain_shape();
  Graph graph;
  // Cards of a computer. A node of the graph is where a card is plugged in; those from c * cards on
  // are the cards of computer c, and cards of the same number talk to each other.
  int cards = 1;

  std::uint32_t computers() const { return graph.node_count() / static_cast<std::uint32_t>(cards); }
};

// From a short spec such as "torus:16x16x16", "mesh:32x32", "fattree:k=36,levels=2". Errors name
// the nearest valid word.
Result<Topology> make_topology(std::string_view spec);

// Coordinates of a router (on a grid one per axis; in a tree the level, then digits from the top;
// in groups the group and the position; elsewhere its index) and back. Names both ways: "(3,0,7)",
// "L2.5" and so on, or the file's own names.
Coordinates coordinates(const Topology& t, RouterId r);
std::optional<RouterId> find_router(const Topology& t, const Coordinates& c);
std::string router_name(const Topology& t, RouterId r);
std::string node_name(const Topology& t, NodeId n);
Result<RouterId> find_router(const Topology& t, std::string_view name);
Result<NodeId> find_node(const Topology& t, std::string_view name);

// Cables on a shortest path between two routers; -1 when there is none. Closed form by shape where
// no cable is down, search elsewhere.
int distance(const Topology& t, RouterId from, RouterId to);

}  // namespace weft
