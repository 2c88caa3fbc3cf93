// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: patterns, maps and networks, drawn and regular.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/study/map/objective.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

inline std::shared_ptr<const Topology> network(const std::string& spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << made.error().text();
  return std::make_shared<const Topology>(*std::move(made));
}

// A ring of routers with chords, degrees uneven, one to three nodes at most of them.
inline std::shared_ptr<const Topology> odd_graph(std::uint32_t routers, std::uint64_t seed) {
  Rng rng(seed);
  Graph::Parts parts;
  parts.port_count.assign(routers, 0);
  const auto plug = [&](std::uint32_t a, std::uint32_t b) {
    if (a == b) return;
    parts.cables.push_back({.a = RouterId(a),
                            .a_port = parts.port_count[a]++,
                            .b = RouterId(b),
                            .b_port = parts.port_count[b]++,
                            .link_class = static_cast<std::uint8_t>(rng.below(2))});
  };
  for (std::uint32_t r = 0; r < routers; ++r) plug(r, (r + 1) % routers);
  for (std::uint32_t i = 0; i < routers; ++i)
    plug(static_cast<std::uint32_t>(rng.below(routers)),
         static_cast<std::uint32_t>(rng.below(routers)));
  for (std::uint32_t r = 1; r < routers; ++r)
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) parts.router_of.push_back(RouterId(r));
  parts.link_classes = {"fast", "slow"};
  return std::make_shared<const Topology>(
      Topology{.name = "odd", .shape = plain_shape(), .graph = *Graph::make(std::move(parts))});
}

inline Problem make_problem(std::shared_ptr<const Topology> topology, std::uint32_t ranks,
                            std::vector<Flow> flows, Request request = {}) {
  auto traffic = TrafficMatrix::make(ranks, std::move(flows));
  EXPECT_TRUE(traffic) << traffic.error().text();
  auto made = Problem::make(std::move(topology), *std::move(traffic), std::move(request));
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

inline Objective objective_of(const std::string& text) {
  const auto made = parse_objective(text);
  EXPECT_TRUE(made) << made.error().text();
  return *made;
}

inline std::unique_ptr<Paths> paths_of(const Problem& problem) {
  auto made = make_paths(problem.topology(), problem.routing());
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

inline std::vector<std::uint32_t> shuffled(std::uint32_t n, Rng& rng) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

// Fixed ranks stay where they belong.
inline RankMap random_map(const Problem& problem, Rng& rng) {
  const auto ranks = shuffled(problem.slots(), rng);
  return problem.in_order(ranks, shuffled(problem.slots(), rng));
}

// Some talk one way, some both ways, some without a byte, some with themselves; every fifth rank
// says nothing of its own accord.
inline std::vector<Flow> random_flows(std::uint32_t ranks, std::uint32_t count, Rng& rng) {
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::uint32_t>(rng.below(ranks));
    const auto to = static_cast<std::uint32_t>(rng.below(ranks));
    if (from % 5 == 4) continue;
    const std::uint64_t bytes = rng.below(6) == 0 ? 0 : 1 + rng.below(100'000);
    flows.push_back({from, to, bytes, 1});
    if (rng.below(3) == 0) flows.push_back({to, from, rng.coin() ? bytes : bytes / 3, 1});
  }
  return flows;
}

struct StencilShape {
  std::vector<std::uint32_t> sides;
  bool cyclic = false;
  std::uint64_t diagonal = 0;  // Bytes to those that are beside in the first two sides; 0: none.
};

// Neighbours in a grid say 1000 bytes to each other; rank `name[i]` stands at place i.
inline std::vector<Flow> stencil(const StencilShape& shape,
                                 const std::vector<std::uint32_t>& name) {
  std::vector<Flow> flows;
  const auto total = static_cast<std::uint32_t>(name.size());
  const auto step = [&](std::uint32_t at, std::size_t d, int by) -> std::uint32_t {
    std::uint32_t stride = 1;
    for (std::size_t e = 0; e < d; ++e) stride *= shape.sides[e];
    const auto side = static_cast<std::int64_t>(shape.sides[d]);
    const std::int64_t x = at / stride % shape.sides[d];
    std::int64_t moved = x + by;
    if (shape.cyclic) moved = (moved + side) % side;
    if (moved < 0 || moved >= side || moved == x) return anywhere;
    return static_cast<std::uint32_t>(at + (moved - x) * stride);
  };
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint64_t bytes) {
    if (b != anywhere) flows.push_back({name[a], name[b], bytes, 1});
  };
  for (std::uint32_t at = 0; at < total; ++at) {
    for (std::size_t d = 0; d < shape.sides.size(); ++d)
      for (const int by : {-1, 1})
        if (by > 0 || shape.sides[d] > 2 || !shape.cyclic) add(at, step(at, d, by), 1000);
    if (shape.diagonal == 0) continue;
    for (const int by : {-1, 1})
      for (const int also : {-1, 1}) {
        const std::uint32_t beside = step(at, 0, by);
        if (beside != anywhere) add(at, step(beside, 1, also), shape.diagonal);
      }
  }
  return flows;
}

}  // namespace weft::map
