// SPDX-License-Identifier: Apache-2.0
// PolarFly (Lakhotia et al., 2022): the polarity graph of Erdos and Renyi. Routers are the points
// of the projective plane over the field of q elements; two are joined if their vectors are
// orthogonal.
#include <array>
#include <vector>

#include <fmt/core.h>

#include <weft/network/topo/family.hpp>
#include <weft/network/topo/galois_field.hpp>

namespace weft::detail {
namespace {

constexpr int q_min = 2;
constexpr int q_max = 4096;  // Far above what check_limits lets pass.
constexpr int max_nodes_per_router = 65535;

using Vector = std::array<int, 3>;

// The first coordinate that is not 0 is 1: then each point has one vector. Router 0 is (0,0,1),
// then (0,1,z), then (1,y,z).
Vector point(int q, int router) {
  if (router == 0) return {0, 0, 1};
  if (router <= q) return {0, 1, router - 1};
  return {1, (router - q - 1) / q, (router - q - 1) % q};
}

std::uint32_t router_of(int q, const Vector& v) {
  if (v[0] != 0) return static_cast<std::uint32_t>(q + 1 + v[1] * q + v[2]);
  return static_cast<std::uint32_t>(v[1] != 0 ? 1 + v[2] : 0);
}

class Plane {
 public:
  explicit Plane(int q)
      : field_(q),
        inverse_(static_cast<std::size_t>(q), 0),
        negative_(static_cast<std::size_t>(q), 0) {
    for (int e = 0; e < q - 1; ++e) inverse_[index(field_.power(e))] = field_.power(q - 1 - e);
    for (int a = 0; a < q; ++a)
      for (int b = 0; b < q; ++b)
        if (field_.add(a, b) == 0) negative_[index(a)] = b;
  }

  // The points orthogonal to `v`, itself among them if it is orthogonal to itself.
  std::vector<std::uint32_t> orthogonal(const Vector& v) const {
    const int q = field_.size();
    std::vector<std::uint32_t> found;
    // (0,0,1) is orthogonal only if v ends in 0. The last coordinate of the others follows from
    // those before, unless v ends in 0 and then either any of them will do or none.
    if (v[2] == 0) found.push_back(router_of(q, {0, 0, 1}));
    add_line(v, 0, 1, found);
    for (int y = 0; y < q; ++y) add_line(v, 1, y, found);
    return found;
  }

 private:
  static std::size_t index(int element) { return static_cast<std::size_t>(element); }

  // Points (x,y,z) with any z.
  void add_line(const Vector& v, int x, int y, std::vector<std::uint32_t>& found) const {
    const int q = field_.size();
    const int sum = field_.add(field_.multiply(v[0], x), field_.multiply(v[1], y));
    if (v[2] != 0)
      found.push_back(
          router_of(q, {x, y, field_.multiply(negative_[index(sum)], inverse_[index(v[2])])}));
    else if (sum == 0)
      for (int z = 0; z < q; ++z) found.push_back(router_of(q, {x, y, z}));
  }

  GaloisField field_;
  std::vector<int> inverse_, negative_;
};

std::vector<Edge> lay_edges(int q, std::uint32_t routers) {
  const Plane plane(q);
  std::vector<Edge> edges;
  for (std::uint32_t r = 0; r < routers; ++r)
    for (const std::uint32_t other : plane.orthogonal(point(q, static_cast<int>(r))))
      if (r < other) edges.push_back({r, other, 0});
  return edges;
}

Result<Topology> make_polar_fly(Spec& spec) {
  const int q = spec.number("q", std::nullopt, q_min, q_max);
  if (!is_prime_power(q)) spec.fail(no_prime_power(q, q_min));
  const int balanced = (q + 2) / 2;
  const int p = spec.number("p", balanced, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  const auto wide = static_cast<std::uint64_t>(q);
  const std::uint64_t routers = wide * wide + wide + 1;
  // q+1 of the routers are orthogonal to themselves and have a cable less.
  const std::uint64_t cables = wide * (wide + 1) * (wide + 1) / 2;
  if (Status s = check_limits(routers, routers * static_cast<std::uint64_t>(p), cables); !s)
    return std::move(s).error();
  auto graph = make_graph({.routers = static_cast<std::uint32_t>(routers),
                           .edges = lay_edges(q, static_cast<std::uint32_t>(routers)),
                           .link_classes = {"cable"},
                           .nodes_per_router = p});
  if (!graph) return std::move(graph).error();
  return Topology{fmt::format("polarfly:q={},p={}", q, p),
                  std::make_shared<const DiameterTwoShape>(), *std::move(graph)};
}

constexpr std::array parameters = {
    SpecParameter{"q", "a prime power; there are q^2 + q + 1 routers"},
    SpecParameter{"p", "nodes per router (half the cables of a router)"}};

}  // namespace

extern const TopologyKind polar_fly_kind{
    .name = "polarfly",
    .usage = "polarfly:q=N[,p=N]",
    .example = "polarfly:q=3,p=1",
    .help = "Erdos-Renyi polarity graph: diameter 2, q + 1 cables per router",
    .parameters = parameters,
    .make = &make_polar_fly,
};

}  // namespace weft::detail
