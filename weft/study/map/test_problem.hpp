// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: small problems in a line.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/study/map/problem.hpp>

namespace weft::map {

inline Request slots(std::uint32_t per_node, std::vector<NodeId> forbidden = {}) {
  Request request;
  request.slots_per_node = per_node;
  request.forbidden = std::move(forbidden);
  return request;
}

// Ranks in a ring, each with 100 bytes for the next.
inline Problem test_problem(const std::string& net, std::uint32_t ranks, Request request) {
  std::vector<Flow> flows;
  for (std::uint32_t r = 0; r < ranks; ++r)
    flows.push_back({.from = r, .to = (r + 1) % ranks, .bytes = 100, .messages = 1});
  auto topology = make_topology(net);
  EXPECT_TRUE(topology) << topology.error().text();
  auto problem = Problem::make(std::make_shared<const Topology>(std::move(*topology)),
                               *TrafficMatrix::make(ranks, std::move(flows)), std::move(request));
  EXPECT_TRUE(problem) << problem.error().text();
  return std::move(*problem);
}

}  // namespace weft::map
