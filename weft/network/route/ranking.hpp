// SPDX-License-Identifier: Apache-2.0
// Places of the routers in an order of (distance from a root, index), component by component. A
// step to a lower rank is up, the others are down: what `up-down` and layers of shortest paths
// build on. Broken cables count as absent.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/topo/graph.hpp>

namespace weft::detail {

class Ranking {
 public:
  explicit Ranking(const Graph& graph);

  bool is_up(RouterId from, RouterId to) const { return rank_[to.index] < rank_[from.index]; }
  const std::vector<RouterId>& order() const { return order_; }
  int depth_max() const { return depth_max_; }

 private:
  std::vector<std::uint32_t> rank_;
  std::vector<RouterId> order_;
  int depth_max_ = 0;
};

}  // namespace weft::detail
