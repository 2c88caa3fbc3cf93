// SPDX-License-Identifier: Apache-2.0
// What a family of networks says about itself. A network's routers, cables and nodes stand in its
// Graph; its Shape answers questions about them in closed form. Other modules ask these questions
// and never which family it is, so a new family is one file and one row of families.inc.
// Every answer has a default that holds for any graph, found by search where one is needed.
//
// Shapes do not change after construction and are shared between copies of a topology. Closed
// forms hold only while every cable is up; the callers (topology.cpp, facts.cpp) see to that.
#pragma once  // Public, for networks: stays within 0.1; questions may be added.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/network/topo/graph.hpp>

namespace weft {

using Coordinates = std::vector<int>;

// How the routers along one axis of a grid are joined.
enum class Wiring {
  line,      // Each to the next.
  ring,      // Each to the next, the last to the first.
  complete,  // Each to every other. Where all axes are so, ports count axis by axis, size - 1 each:
             // to coordinate q leads port q < own ? q : q-1 of its axis.
};

// Routers on a grid are counted x0 + s0*(x1 + s1*(x2 + ...)), where s is the size of an axis.
struct GridAxis {
  int size = 1;
  Wiring wiring = Wiring::line;
};

// A grid of lines and rings with fixed ports: k-ary n-cube or mesh, radix and wrap per dimension.
// Port 2d goes up in dimension d, 2d+1 goes down; unplugged at the edge of a mesh. A wrapped
// dimension of radix 2 has one cable (port 2d of 0 to port 2d+1 of 1), as in a hypercube, so it is
// stored with wrap = false.
struct Lattice {
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
// above, the child with x_{l+1} = c hangs on port c. Coordinates are the level, then the digits
// from the top.
struct SwitchTree {
  std::vector<int> children;  // m, index 0 is m1.
  std::vector<int> parents;   // w, index 0 is w1 = 1.

  int levels() const { return static_cast<int>(children.size()); }
  std::uint32_t leaves() const;  // Leaf switches.
};

// `count` groups of `size` routers, all to all inside, with cables between any two groups. Router
// index = group * size + position. Ports: 0..size-2 lead inside the group (to position q: port
// q < own ? q : q-1), the others out of it.
struct RouterGroups {
  int size = 1, count = 1;
};

// Neighbouring router numbers that belong together: `routers` routers from number 0 on, `size` of
// them in each block. Nodes whose numbers are near are then near each other.
struct RouterBlocks {
  std::uint32_t routers = 0, size = 1;
  std::string_view word;  // What a block is called: "group", "subtree".
};

class Shape;
using ShapeRef = std::shared_ptr<const Shape>;  // Never null in a Topology.

// Copies of a network side by side, or one copy whose nodes have cards at several routers
// (planes.hpp). Router r of copy i is router i * routers + r.
struct Planes {
  int count = 1;                   // Copies.
  std::uint32_t routers = 0;       // Of one copy.
  ShapeRef shape;                  // Of one copy.
  std::vector<std::uint32_t> end;  // By node of the graph: the node that it is in its copy alone.
};

// How a number was come by.
enum class Ground {
  exact,        // Closed form or search of every case.
  sample,       // From part of the sources: the average is an estimate, the diameter a lower bound.
  upper_bound,  // The best found by a search that does not prove.
};

// The fewest cables that must be cut to part the nodes into two halves. A router is not split: the
// halves are as equal as whole routers allow.
struct Bisection {
  std::uint64_t cables = 0;
  Ground ground = Ground::exact;
};

// Sum and largest of the distances over ordered pairs of routers that have nodes; all of these have
// the same number of nodes.
struct DistanceSum {
  double total = 0;
  int largest = 0;
};

class Shape {
 public:
  virtual ~Shape() = default;

  // Which coordinates has a router, and which router has these? The default is the router's number.
  virtual Coordinates coordinates(RouterId r) const;
  virtual std::optional<RouterId> find_router(const Coordinates& c) const;
  // What is a router called, and which router is called so? The default is "r17".
  virtual std::string router_name(RouterId r) const;
  virtual std::optional<RouterId> find_router(std::string_view name) const;

  // Closed forms; nothing: search.
  virtual std::optional<int> distance(const Graph& graph, RouterId from, RouterId to) const;
  virtual std::optional<DistanceSum> distance_sum(const Graph& graph) const;
  virtual std::optional<Bisection> bisection() const;
  // No two routers with nodes are farther apart.
  virtual std::optional<int> diameter_max() const;

  // Do the routers stand on a grid? Empty: no.
  virtual std::span<const GridAxis> axes() const { return {}; }
  // Is that grid a lattice, a tree of switches, a set of groups? Null: no.
  virtual const Lattice* lattice() const { return nullptr; }
  virtual const SwitchTree* tree() const { return nullptr; }
  virtual const RouterGroups* groups() const { return nullptr; }
  // Which routers belong together by their numbers?
  virtual std::optional<RouterBlocks> blocks() const { return std::nullopt; }
  // Is it made of copies of another network? Null: no.
  virtual const Planes* planes() const { return nullptr; }
};

// The shape of any graph: all defaults.
ShapeRef plain_shape();

}  // namespace weft
