// SPDX-License-Identifier: Apache-2.0
// Dimension order on a grid whose axes are fully connected (HyperX): one hop in each dimension that
// differs, two where a cable is down, so one VC is enough: a packet waits only for channels of a
// later dimension, or for one that ends a way round (bypass.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/route/bypass.hpp>
#include <weft/network/route/grid.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

class HyperXLegs {
 public:
  explicit HyperXLegs(const Topology& topology)
      : graph_(topology.graph),
        bypass_(topology.graph),
        grid_(sizes(topology), topology.graph.router_count()) {
    int first = 0;
    for (const int size : sizes(topology)) {
      lines_.push_back({first, size});
      first += size - 1;
      if (size > 1) hops_max_ += bypass_.all_up() ? 1 : 2;
    }
  }
  static int vcs_needed(const Topology& topology) {
    const std::vector<int> size = sizes(topology);
    return !size.empty() && Grid::fits(size) ? 1 : 0;
  }
  // REQUIRES: vcs_needed(topology) > 0.
  static bool reaches_all(const Topology& topology) {
    if (topology.graph.all_up()) return true;
    const HyperXLegs legs(topology);
    for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r)
      for (int axis = 0; axis < legs.grid_.axes(); ++axis)
        if (!legs.bypass_.reaches_all(RouterId(r), legs.line(axis), legs.place(RouterId(r), axis)))
          return false;
    return true;
  }

  LegStep step(RouterId here, RouterId target, std::uint32_t, bool) const {
    const int axis = grid_.first_axis(grid_.word(here) ^ grid_.word(target));
    return {.port = bypass_.port(here, line(axis), place(here, axis), place(target, axis), target),
            .vc_class = class_any,
            .state = 0};
  }
  int distance(RouterId here, RouterId target) const {
    int sum = 0;
    if (bypass_.all_up()) {
      for (int axis = 0; axis < grid_.axes(); ++axis)
        sum += place(here, axis) != place(target, axis) ? 1 : 0;
      return sum;
    }
    for (; here != target; ++sum) {
      const LegStep next = step(here, target, 0, false);
      if (next.port == LegStep::nowhere) return hops_max_;
      here = graph_.ports(here)[next.port].peer;
    }
    return sum;
  }
  int hops_max() const { return hops_max_; }
  static constexpr bool alike = true;
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

  const Bypass::Set& line(int axis) const { return lines_[static_cast<unsigned>(axis)]; }
  int place(RouterId r, int axis) const { return grid_.coordinate(grid_.word(r), axis); }

  const Graph& graph_;
  Bypass bypass_;
  Grid grid_;
  std::vector<Bypass::Set> lines_;  // By axis.
  int hops_max_ = 0;
};

}  // namespace weft::detail
