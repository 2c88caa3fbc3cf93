// SPDX-License-Identifier: Apache-2.0
// Xpander (Valadarsky et al., 2016): a random lift of the complete graph. Each of its d+1 routers
// becomes `lift` routers, and each of its cables that many, matched at random.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <fmt/core.h>

#include <weft/base/rng.hpp>
#include <weft/network/topo/family.hpp>
#include <weft/network/topo/search.hpp>

namespace weft::detail {
namespace {

constexpr int degree_min = 3;  // A lift of a triangle is connected by luck only.
constexpr int max_degree = 65535;
constexpr int max_lift = 1 << 22;
constexpr int max_nodes_per_router = 65535;
constexpr int seed_max = 2147483647;

std::vector<Edge> lay_edges(std::uint32_t degree, std::uint32_t lift, Rng rng) {
  std::vector<Edge> edges;
  std::vector<std::uint32_t> match(lift);
  for (std::uint32_t a = 0; a <= degree; ++a)
    for (std::uint32_t b = a + 1; b <= degree; ++b) {
      std::iota(match.begin(), match.end(), 0u);
      for (std::size_t i = lift; i > 1; --i) std::swap(match[i - 1], match[rng.below(i)]);
      for (std::uint32_t i = 0; i < lift; ++i)
        edges.push_back({a * lift + i, b * lift + match[i], 0});
    }
  return edges;
}

bool is_connected(const Graph& graph) {
  const std::vector<int> away = distances_from(graph, RouterId(0));
  return std::find(away.begin(), away.end(), -1) == away.end();
}

Result<Topology> make_xpander(Spec& spec) {
  const int degree = spec.number("d", std::nullopt, degree_min, max_degree);
  const int lift = spec.number("lift", std::nullopt, 1, max_lift);
  const int seed = spec.number("seed", 1, 0, seed_max);
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  const std::uint64_t routers =
      static_cast<std::uint64_t>(degree + 1) * static_cast<std::uint64_t>(lift);
  if (Status s = check_limits(routers, product(routers, static_cast<std::uint64_t>(p)),
                              routers * static_cast<std::uint64_t>(degree) / 2);
      !s)
    return std::move(s).error();
  const Rng rng = Rng(static_cast<std::uint64_t>(seed)).stream("xpander");
  for (std::uint64_t attempt = 0;; ++attempt) {
    auto graph = make_graph(
        {.routers = static_cast<std::uint32_t>(routers),
         .edges = lay_edges(static_cast<std::uint32_t>(degree), static_cast<std::uint32_t>(lift),
                            rng.stream("attempt", attempt)),
         .link_classes = {"cable"},
         .nodes_per_router = p});
    if (!graph) return std::move(graph).error();
    if (!is_connected(*graph)) continue;  // Rare: of random lifts nearly all are connected.
    return Topology{
        fmt::format("xpander:d={},lift={},seed={}{}", degree, lift, seed, nodes_text(p)),
        plain_shape(), *std::move(graph)};
  }
}

constexpr std::array parameters = {
    SpecParameter{"d", "cables per router"},
    SpecParameter{"lift", "routers in place of each of the d + 1 of a complete graph"},
    seed_parameter, nodes_parameter};

}  // namespace

extern const TopologyKind xpander_kind{
    .name = "xpander",
    .usage = "xpander:d=N,lift=N[,seed=N][,p=N]",
    .example = "xpander:d=3,lift=4",
    .help = "random lift of a complete graph: (d + 1) lift routers",
    .parameters = parameters,
    .make = &make_xpander,
};

}  // namespace weft::detail
