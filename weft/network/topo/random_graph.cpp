// SPDX-License-Identifier: Apache-2.0
// Random regular graphs: every router has the same number of cables, to routers drawn at random, no
// two between the same pair, and all routers are connected. The same seed gives the same graph on
// any machine. Jellyfish (Singla et al., 2012) is the same network told by the ports of a switch.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include <weft/base/rng.hpp>
#include <weft/network/topo/family.hpp>

namespace weft::detail {
namespace {

constexpr int max_degree = 65535;
constexpr int max_nodes_per_router = 65535;
constexpr int seed_max = 2147483647;

using Pair = std::array<std::uint32_t, 2>;

// Cables as pairs of routers, which may be rewired two at a time: no degree changes.
class RandomCables {
 public:
  // Ends of cables are joined at random (the configuration model).
  RandomCables(std::uint32_t routers, std::uint32_t degree, Rng rng)
      : routers_(routers), rng_(rng) {
    std::vector<std::uint32_t> ends;
    ends.reserve(std::size_t{routers} * degree);
    for (std::uint32_t r = 0; r < routers; ++r) ends.insert(ends.end(), degree, r);
    for (std::size_t i = ends.size(); i > 1; --i) std::swap(ends[i - 1], ends[rng_.below(i)]);
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      pairs_.push_back({ends[i], ends[i + 1]});
      ++cables_[key(pairs_.back())];
    }
  }

  const std::vector<Pair>& pairs() const { return pairs_; }

  // Rewires cables that join a router to itself or a pair for the second time. False: gave up.
  bool make_simple() {
    std::uint64_t tries = 1000 + 100 * std::uint64_t{pairs_.size()};
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      while (is_bad(pairs_[i])) {
        if (tries-- == 0) return false;
        const std::size_t other = rng_.below(pairs_.size());
        if (other != i) try_swap(i, other);
      }
    return true;
  }

  // Joins the parts of the network. REQUIRES: at least two cables per router, and a simple graph.
  void connect() {
    for (;;) {
      const auto spare = find_spare();
      if (!spare.outside) return;
      // The cable of the first part lies on a circle, so that part stays whole without it; both
      // ends of the other part's cable are then joined to it.
      swap_ends(*spare.inside, *spare.outside);
    }
  }

 private:
  struct Spare {
    std::optional<std::size_t> inside, outside;
  };

  static std::uint64_t key(const Pair& p) {
    return (std::uint64_t{std::min(p[0], p[1])} << 32) | std::max(p[0], p[1]);
  }
  bool is_bad(const Pair& p) const { return p[0] == p[1] || cables_.at(key(p)) > 1; }
  bool is_free(const Pair& p) const { return p[0] != p[1] && !cables_.contains(key(p)); }

  void remove(const Pair& p) {
    const auto found = cables_.find(key(p));
    if (--found->second == 0) cables_.erase(found);
  }

  void swap_ends(std::size_t i, std::size_t j) {
    remove(pairs_[i]);
    remove(pairs_[j]);
    std::swap(pairs_[i][1], pairs_[j][0]);
    ++cables_[key(pairs_[i])];
    ++cables_[key(pairs_[j])];
  }

  void try_swap(std::size_t i, std::size_t j) {
    if (rng_.coin()) std::swap(pairs_[j][0], pairs_[j][1]);
    const Pair first{pairs_[i][0], pairs_[j][0]};
    const Pair second{pairs_[i][1], pairs_[j][1]};
    if (is_free(first) && is_free(second) && key(first) != key(second)) swap_ends(i, j);
  }

  // A random cable within the part of router 0 that its spanning tree does not need, and one
  // outside of that part; neither where there is no outside.
  Spare find_spare() {
    std::vector<std::uint32_t> part(routers_);
    for (std::uint32_t r = 0; r < routers_; ++r) part[r] = r;
    const auto root = [&](std::uint32_t r) {
      while (part[r] != r) r = part[r] = part[part[r]];
      return r;
    };
    std::vector<std::size_t> circles;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const std::uint32_t a = root(pairs_[i][0]);
      const std::uint32_t b = root(pairs_[i][1]);
      if (a == b) circles.push_back(i);
      part[std::max(a, b)] = std::min(a, b);
    }
    std::vector<std::size_t> inside, outside;
    for (const std::size_t i : circles)
      if (root(pairs_[i][0]) == 0) inside.push_back(i);
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      if (root(pairs_[i][0]) != 0) outside.push_back(i);
    if (outside.empty()) return {};
    return {inside[rng_.below(inside.size())], outside[rng_.below(outside.size())]};
  }

  std::uint32_t routers_;
  Rng rng_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, std::uint32_t> cables_;  // How many join a pair.
};

std::vector<Pair> complement(std::uint32_t routers, const std::vector<Pair>& pairs) {
  std::vector<Pair> sorted;
  for (const Pair& p : pairs) sorted.push_back({std::min(p[0], p[1]), std::max(p[0], p[1])});
  std::sort(sorted.begin(), sorted.end());
  std::vector<Pair> others;
  auto next = sorted.begin();
  for (std::uint32_t a = 0; a < routers; ++a)
    for (std::uint32_t b = a + 1; b < routers; ++b) {
      if (next != sorted.end() && *next == Pair{a, b})
        ++next;
      else
        others.push_back({a, b});
    }
  return others;
}

// REQUIRES: routers * degree is even, 0 < degree < routers; degree 1 only with two routers.
std::vector<Pair> draw(std::uint32_t routers, std::uint32_t degree, std::uint64_t seed) {
  const std::uint32_t missing = routers - 1 - degree;
  if (missing == 0) return complement(routers, {});
  // Where most pairs are joined those that are not are drawn; so dense a graph is connected.
  const bool dense = missing < degree;
  const Rng rng = Rng(seed).stream("random graph");
  for (std::uint64_t attempt = 0;; ++attempt) {
    RandomCables wiring(routers, dense ? missing : degree, rng.stream("attempt", attempt));
    if (!wiring.make_simple()) continue;
    if (dense) return complement(routers, wiring.pairs());
    wiring.connect();
    return wiring.pairs();
  }
}

Status check_regular(int n, int d) {
  if (d >= n)
    return Error::input(fmt::format("{} routers have at most {} cables each, not {}", n, n - 1, d));
  if (d == 1 && n > 2)
    return Error::input(
        fmt::format("{} routers with one cable each are not connected; "
                    "at least 2 are needed",
                    n));
  if (n % 2 == 1 && d % 2 == 1)
    return Error::input(
        fmt::format("{} routers with {} cables each would leave one end over; "
                    "{} or {} routers do not",
                    n, d, n - 1 > d ? n - 1 : n + 1, n - 1 > d ? n + 1 : n + 3));
  return {};
}

struct Asked {
  int routers = 0, degree = 0, nodes = 0, seed = 0;
};

Result<Topology> build(const Asked& asked, std::string name) {
  if (Status s = check_regular(asked.routers, asked.degree); !s) return std::move(s).error();
  const auto routers = static_cast<std::uint64_t>(asked.routers);
  const auto degree = static_cast<std::uint64_t>(asked.degree);
  const std::uint64_t nodes = routers * static_cast<std::uint64_t>(asked.nodes);
  if (Status s = check_limits(routers, nodes, routers * degree / 2); !s)
    return std::move(s).error();
  std::vector<Edge> edges;
  for (const Pair& p : draw(static_cast<std::uint32_t>(routers), static_cast<std::uint32_t>(degree),
                            static_cast<std::uint64_t>(asked.seed)))
    edges.push_back({std::min(p[0], p[1]), std::max(p[0], p[1]), 0});
  auto graph = make_graph({.routers = static_cast<std::uint32_t>(routers),
                           .edges = std::move(edges),
                           .link_classes = {"cable"},
                           .nodes_per_router = asked.nodes});
  if (!graph) return std::move(graph).error();
  return Topology{std::move(name), plain_shape(), *std::move(graph)};
}

Result<Topology> make_random(Spec& spec) {
  Asked asked;
  asked.routers = spec.number("n", std::nullopt, 2, static_cast<int>(max_routers));
  asked.degree = spec.number("d", std::nullopt, 1, max_degree);
  asked.seed = spec.number("seed", 1, 0, seed_max);
  asked.nodes = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  return build(asked, fmt::format("random:n={},d={},seed={}{}", asked.routers, asked.degree,
                                  asked.seed, nodes_text(asked.nodes)));
}

Result<Topology> make_jellyfish(Spec& spec) {
  Asked asked;
  asked.routers = spec.number("n", std::nullopt, 2, static_cast<int>(max_routers));
  const int ports = spec.number("ports", std::nullopt, 2, max_degree);
  asked.seed = spec.number("seed", 1, 0, seed_max);
  asked.nodes = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  if (asked.nodes >= ports)
    return Error::input(fmt::format("{} nodes leave none of {} ports for cables between switches",
                                    asked.nodes, ports));
  asked.degree = ports - asked.nodes;
  return build(asked, fmt::format("jellyfish:n={},ports={},seed={}{}", asked.routers, ports,
                                  asked.seed, nodes_text(asked.nodes)));
}

constexpr std::array random_parameters = {SpecParameter{"n", "routers"},
                                          SpecParameter{"d", "cables per router"}, seed_parameter,
                                          nodes_parameter};
constexpr std::array jellyfish_parameters = {
    SpecParameter{"n", "switches"},
    SpecParameter{"ports", "ports per switch, for nodes and cables between switches"},
    seed_parameter, nodes_parameter};

}  // namespace

extern const TopologyKind random_kind{
    .name = "random",
    .usage = "random:n=N,d=N[,seed=N][,p=N]",
    .example = "random:n=14,d=3",
    .help = "random regular graph: d cables per router",
    .parameters = random_parameters,
    .make = &make_random,
};
extern const TopologyKind jellyfish_kind{
    .name = "jellyfish",
    .usage = "jellyfish:n=N,ports=N[,seed=N][,p=N]",
    .example = "jellyfish:n=12,ports=6,p=2",
    .help = "random regular graph of switches: p of the ports go to nodes",
    .parameters = jellyfish_parameters,
    .make = &make_jellyfish,
};

}  // namespace weft::detail
