// SPDX-License-Identifier: Apache-2.0
// Distances from every router to every router that has nodes, for policies that know no shape: one
// or two bytes per pair. Broken cables count as absent. Built once, one search per destination.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::detail {

class DistanceTable {
 public:
  static constexpr std::uint16_t unreachable = std::numeric_limits<std::uint16_t>::max();
  // A simulation holds far more per router than this; but a quadratic table must not come as a
  // surprise.
  static constexpr std::uint64_t bytes_max = std::uint64_t{1} << 30;

  // `planes` tables of the same size. Fails when together they would exceed bytes_max.
  static Status fits(const Topology& topology, std::string_view policy, int planes, bool wide);

  DistanceTable(const Topology& topology, bool wide);

  std::uint16_t at(RouterId from, RouterId to) const {
    const std::uint32_t row = row_of_[to.index];
    if (row == no_row) return unreachable;
    const std::size_t i = std::size_t{row} * routers_ + from.index;
    if (wide_) return two_bytes_[i];
    const std::uint8_t d = one_byte_[i];
    return d == 0xff ? unreachable : d;
  }
  // Stores one destination's distances. REQUIRES: to has nodes; each is < 255 or unreachable unless
  // the table is wide.
  void set(RouterId to, std::span<const std::uint16_t> distances);
  // Routers that have nodes, in increasing order.
  std::span<const RouterId> destinations() const { return destinations_; }

 private:
  static constexpr std::uint32_t no_row = 0xffffffffu;
  bool wide_;
  std::size_t routers_;
  std::vector<RouterId> destinations_;
  std::vector<std::uint32_t> row_of_;
  std::vector<std::uint8_t> one_byte_;
  std::vector<std::uint16_t> two_bytes_;
};

// Links to each router over usable cables from `from`; REQUIRES: distances.size() == router_count.
// Answers the largest that is reachable. `queue` is only lent, so that repeated searches reuse it.
int search(const Graph& graph, RouterId from, std::span<std::uint16_t> distances,
           std::vector<RouterId>& queue);

// The largest distance between routers that have nodes: exact by search in a small network, at most
// a bound in closed form or twice the distance from one router in a large one. Once the number
// exceeds `enough`, the search ends.
int find_diameter(const Topology& topology, int enough);

}  // namespace weft::detail
