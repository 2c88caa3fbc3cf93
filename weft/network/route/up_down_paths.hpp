// SPDX-License-Identifier: Apache-2.0
// Paths that go up a ranking, then down: their lengths to one destination after the other, the load
// that they put on links, and the ranking among several for which the busiest link carries least.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/route/ranking.hpp>

namespace weft::detail {

class UpDownPaths {
 public:
  UpDownPaths(const Graph& graph, const Ranking& ranking);

  void search(RouterId to);
  // By router, to the destination searched for: the shortest path that only goes down, and the
  // shortest that may go up first.
  const std::vector<std::uint16_t>& down() const { return down_; }
  const std::vector<std::uint16_t>& legal() const { return legal_; }

  // Adds what every node sends to every node of the destination, in equal parts to equal steps.
  void pour(RouterId to, std::vector<double>& load);

 private:
  void search_down(RouterId to);
  void pour_on(RouterId r, bool falling, std::vector<double>& load);

  const Graph& graph_;
  const Ranking& ranking_;
  std::vector<std::uint16_t> down_, legal_;
  std::vector<RouterId> queue_;
  std::vector<double> rising_flow_, falling_flow_;
  std::vector<std::vector<RouterId>> rising_at_, falling_at_;  // By length of the path left.
};

Ranking choose_ranking(const Graph& graph);

}  // namespace weft::detail
