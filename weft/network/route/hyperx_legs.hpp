// SPDX-License-Identifier: Apache-2.0
// Dimension order on a grid whose axes are fully connected (HyperX): one hop in each dimension that
// differs, so one VC is enough: a packet waits only for channels of a later dimension.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/route/grid.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

class HyperXLegs {
 public:
  explicit HyperXLegs(const Topology& topology)
      : grid_(sizes(topology), topology.graph.router_count()) {
    int first = 0;
    for (const int size : sizes(topology)) {
      first_port_.push_back(first);
      first += size - 1;
      if (size > 1) ++hops_max_;
    }
  }
  static int vcs_needed(const Topology& topology) {
    const std::vector<int> size = sizes(topology);
    return !size.empty() && Grid::fits(size) ? 1 : 0;
  }

  LegStep step(RouterId here, RouterId target, std::uint32_t, bool) const {
    const std::uint64_t from = grid_.word(here);
    const std::uint64_t to = grid_.word(target);
    const int axis = grid_.first_axis(from ^ to);
    const int own = grid_.coordinate(from, axis);
    const int other = grid_.coordinate(to, axis);
    const int port = first_port_[static_cast<unsigned>(axis)] + (other < own ? other : other - 1);
    return {.port = static_cast<std::uint16_t>(port), .vc_class = class_any, .state = 0};
  }
  int distance(RouterId here, RouterId target) const {
    const std::uint64_t from = grid_.word(here);
    const std::uint64_t to = grid_.word(target);
    int sum = 0;
    for (int d = 0; d < grid_.axes(); ++d)
      sum += grid_.coordinate(from, d) != grid_.coordinate(to, d) ? 1 : 0;
    return sum;
  }
  int hops_max() const { return hops_max_; }
  bool one_way() const { return true; }
  int vcs_needed() const { return 1; }
  LegMasks masks(int first, int count) const { return halves(first, count); }
  unsigned classes_used() const { return 1u << class_any; }

 private:
  // Sizes of the axes, if all are fully connected; otherwise empty.
  static std::vector<int> sizes(const Topology& topology) {
    std::vector<int> made;
    for (const GridAxis& axis : topology.shape->axes()) {
      if (axis.wiring != Wiring::complete) return {};
      made.push_back(axis.size);
    }
    return made;
  }

  Grid grid_;
  std::vector<int> first_port_;
  int hops_max_ = 0;
};

}  // namespace weft::detail
