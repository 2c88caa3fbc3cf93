// SPDX-License-Identifier: Apache-2.0
// What families of networks share when they are made. Private to topo. A family is one file: it
// reads its spec, lays the cables and answers the questions of Shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/spec.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::detail {

// Parameters that several kinds have.
inline constexpr SpecParameter nodes_parameter{"p", "nodes per router (1)"};
inline constexpr SpecParameter sizes_parameter{
    "", "routers per dimension, such as 16x16x8; each at least 2"};
inline constexpr SpecParameter routers_parameter{"", "routers"};
inline constexpr SpecParameter seed_parameter{"seed", "of the random choices (1)"};

// A shape whose routers stand on a grid and are called by their coordinates.
class GridShape : public Shape {
 public:
  explicit GridShape(std::vector<GridAxis> axes);

  Coordinates coordinates(RouterId r) const override;
  std::optional<RouterId> find_router(const Coordinates& c) const override;
  std::string router_name(RouterId r) const override;
  std::optional<RouterId> find_router(std::string_view name) const override;
  std::span<const GridAxis> axes() const override { return axes_; }

 private:
  std::vector<GridAxis> axes_;
};

// Any two routers that are not neighbours have a common one; all routers have nodes.
class DiameterTwoShape : public Shape {
 public:
  std::optional<int> distance(const Graph& graph, RouterId from, RouterId to) const override;
  std::optional<DistanceSum> distance_sum(const Graph& graph) const override;
  std::optional<int> diameter_max() const override { return 2; }
};

// A graph told by its edges: the ports of a router are in the order of its neighbours' numbers.
struct Edge {
  std::uint32_t a, b;
  std::uint8_t link_class;
};
struct EdgeList {
  std::uint32_t routers = 0;
  std::vector<Edge> edges;
  std::vector<std::string> link_classes;
  int nodes_per_router = 1;
};
Result<Graph> make_graph(EdgeList list);

// p nodes at each of the first `routers` routers, router by router.
std::vector<RouterId> place_nodes(std::uint64_t routers, int p);
std::string dimension_name(int dimension);  // "x", "y", "z", "a", "b", "c", "d6", "d7", ...
// "kind:sizes[,p=N]".
std::string spec_name(std::string_view kind, const std::string& sizes, int p);
std::string nodes_text(int p);  // ",p=N", or nothing where N is 1.
// "(3,0,7)" both ways; nothing where the text is not of this form.
std::string tuple_text(const Coordinates& c);
std::optional<Coordinates> parse_tuple(std::string_view text);
// The number of a name such as "n17" with prefix 'n'. No leading zeros, so that names are unique.
std::optional<std::uint32_t> parse_numbered(std::string_view name, char prefix);

}  // namespace weft::detail
