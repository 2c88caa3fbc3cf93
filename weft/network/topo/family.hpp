// SPDX-License-Identifier: Apache-2.0
// What each family of networks answers in closed form. Private to topo: topology.cpp and facts.cpp
// choose by shape. Distances hold only while every cable is up. Router indices and coordinates are
// checked by the callers (distance, name) or here (find_router).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/spec.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::detail {

// Sum and largest of the distances over ordered pairs of routers that have nodes.
struct DistanceSum {
  double total = 0;
  int largest = 0;
};

Result<Topology> make_torus(Spec& spec);
Result<Topology> make_mesh(Spec& spec);
Result<Topology> make_cube(Spec& spec);
Result<Topology> make_tofu(Spec& spec);
Result<Topology> make_ring(Spec& spec);
Result<Topology> make_hypercube(Spec& spec);
Coordinates coordinates(const Cube& shape, RouterId r);
std::optional<RouterId> find_router(const Cube& shape, const Coordinates& c);
int distance(const Cube& shape, RouterId from, RouterId to);
DistanceSum distance_sum(const Cube& shape);
Bisection bisection(const Cube& shape);

Result<Topology> make_fat_tree(Spec& spec);
Result<Topology> make_xgft(Spec& spec);
Coordinates coordinates(const FatTree& shape, RouterId r);
std::optional<RouterId> find_router(const FatTree& shape, const Coordinates& c);
std::string router_name(const FatTree& shape, RouterId r);
std::optional<RouterId> find_router(const FatTree& shape, std::string_view name);
int distance(const FatTree& shape, RouterId from, RouterId to);
DistanceSum distance_sum(const FatTree& shape);
std::optional<Bisection> bisection(const FatTree& shape);

Result<Topology> make_dragonfly(Spec& spec);
Coordinates coordinates(const Dragonfly& shape, RouterId r);
std::optional<RouterId> find_router(const Dragonfly& shape, const Coordinates& c);
std::string router_name(const Dragonfly& shape, RouterId r);
std::optional<RouterId> find_router(const Dragonfly& shape, std::string_view name);
int distance(const Dragonfly& shape, const Graph& graph, RouterId from, RouterId to);
DistanceSum distance_sum(const Dragonfly& shape, const Graph& graph);

Result<Topology> make_hyperx(Spec& spec);
Result<Topology> make_complete(Spec& spec);
Coordinates coordinates(const HyperX& shape, RouterId r);
std::optional<RouterId> find_router(const HyperX& shape, const Coordinates& c);
int distance(const HyperX& shape, RouterId from, RouterId to);
DistanceSum distance_sum(const HyperX& shape);
Bisection bisection(const HyperX& shape);

Result<Topology> make_from_file(Spec& spec);

// Shared by the families whose routers are counted x0 + r0*(x1 + r1*(...)).
Coordinates unfold(std::span<const int> radix, RouterId r);
std::optional<RouterId> fold(std::span<const int> radix, const Coordinates& c);
// p nodes at each of the first `routers` routers, router by router.
std::vector<RouterId> place_nodes(std::uint64_t routers, int p);
std::string dimension_name(int dimension);  // "x", "y", "z", "a", "b", "c", "d6", "d7", ...
// "kind:sizes[,p=N]".
std::string spec_name(std::string_view kind, const std::string& sizes, int p);
// "(3,0,7)" both ways; nothing where the text is not of this form.
std::string tuple_text(const Coordinates& c);
std::optional<Coordinates> parse_tuple(std::string_view text);

}  // namespace weft::detail
