// SPDX-License-Identifier: Apache-2.0
// A network: its graph and, where it belongs to a family, the shape that gives coordinates,
// distances and routes in closed form. The set of shapes is closed and small, hence a variant; what
// holds for any graph (distance by search, links) needs no shape.
#pragma once  // Public, for networks: stays within 0.1; shapes and fields may be added.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/base/result.hpp>
#include <weft/network/topo/graph.hpp>

namespace weft {

using Coordinates = std::vector<int>;

// k-ary n-cube or mesh, radix and wrap per dimension. Router index = x0 + r0*(x1 + r1*(x2 + ...)).
// Ports: 2d goes up in dimension d, 2d+1 goes down; unplugged at the edge of a mesh. A wrapped
// dimension of radix 2 has one cable (port 2d of 0 to port 2d+1 of 1), as in a hypercube, so it is
// stored with wrap = false.
struct Cube {
  std::vector<int> radix;
  std::vector<bool> wrap;

  int dimensions() const { return static_cast<int>(radix.size()); }
  static constexpr int up_port(int dimension) { return 2 * dimension; }
  static constexpr int down_port(int dimension) { return 2 * dimension + 1; }
};

// Extended generalised fat tree XGFT(h; m1..mh; w1..wh) with w1 = 1 (Öhring et al.): a switch of
// level l has m[l-1] children and w[l] parents (none at level h); level-1 switches have the nodes
// as children. k-ary n-tree: all m = k, all w = k but w1 = 1. A switch of level l is labelled by
// digits (x_h..x_{l+1}, y_l..y_1), x_i < m_i, y_i < w_i; its index within the level is that number
// in mixed radix, y_1 the least significant; levels are numbered one after the other from the
// leaves, so leaf switch s has the nodes s*m1 .. s*m1+m1-1. Ports: the children are ports 0..m_l-1
// (level 1: none, its children are nodes), then the parents. A level-l switch's parent number q is
// the switch of level l+1 whose digits are the same but x_{l+1} is replaced by y_{l+1} = q; from
// above, the child with x_{l+1} = c hangs on port c.
struct FatTree {
  std::vector<int> children;  // m, index 0 is m1.
  std::vector<int> parents;   // w, index 0 is w1 = 1.

  int levels() const { return static_cast<int>(children.size()); }
};

// Groups of `a` routers, all-to-all inside; h global cables and p nodes per router; g groups.
// Router index = group * a + position. Ports: 0..a-2 local (to position q: port q < own ? q : q-1),
// then a-1..a-2+h global. Global cable number j = position * h + (port-(a-1)) of a group goes, when
// g = a*h+1, to group (j < own group ? j : j+1); with fewer groups the same order is dealt round.
struct Dragonfly {
  int a = 0, h = 0, p = 0, g = 0;
};

// HyperX (flattened butterfly): each dimension fully connected. Router index as Cube. Ports:
// dimension by dimension, s_d - 1 each (to coordinate q: q < own ? q : q-1). A complete graph is a
// HyperX of one dimension.
struct HyperX {
  std::vector<int> size;
};

struct Irregular {};  // Anything from a file.

using Shape = std::variant<Cube, FatTree, Dragonfly, HyperX, Irregular>;

struct Topology {
  std::string name;  // The canonical short spec ("torus:4x4,p=2") or the file it came from.
  Shape shape;
  Graph graph;
};

// From a short spec such as "torus:16x16x16", "mesh:32x32", "fattree:k=36,levels=2". Errors name
// the nearest valid word.
Result<Topology> make_topology(std::string_view spec);

// Coordinates of a router (Cube, HyperX: one per dimension; FatTree: level, then digits from the
// top; Dragonfly: group, position; Irregular: its index) and back. Names both ways: "(3,0,7)",
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
