// SPDX-License-Identifier: Apache-2.0
// Routers in an order, component by component. A step to a lower rank is
// up, the others are down: what `up-down` and layers of shortest paths build on. But for `height`,
// every router except the first of a component has a neighbour of lower rank. Broken cables count
// as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/network/topo/graph.hpp>

namespace weft::detail {

struct RankingRule {
  enum class By {
    // Distance from the first router, equals by index: few turns up on shortest paths.
    distance,
    // Next comes the router with the most cables to those that have a place: paths that may turn up
    // only once are then short, and fewer of them must pass the first router.
    cables,
    // The same, among equals the one that a cable has reached last.
    cables_then_last,
    // Farthest from all routers with nodes first, equals by index: the tops of a tree, then level
    // by
    // level. From one top alone, ways by the other tops would turn up again.
    height,
  };
  By by = By::distance;
  // Begins its component; the others, and this one without it, begin at a centre.
  std::optional<RouterId> first = std::nullopt;
  std::uint32_t seed = 0;  // Seed of the choice among equals; 0: the lowest index.
};

// The router of a component that is least far from the farthest, and then from all.
RouterId find_centre(const Graph& graph, RouterId member);

class Ranking {
 public:
  Ranking(const Graph& graph, const RankingRule& rule);

  bool is_up(RouterId from, RouterId to) const { return rank_[to.index] < rank_[from.index]; }
  const std::vector<RouterId>& order() const { return order_; }
  // The most steps up that any router needs to one that has none above: the first of its component.
  int depth_max() const { return depth_max_; }

 private:
  void place_by_height(const Graph& graph);
  void find_depths(const Graph& graph);

  std::vector<std::uint32_t> rank_;
  std::vector<RouterId> order_;
  int depth_max_ = 0;
};

}  // namespace weft::detail
