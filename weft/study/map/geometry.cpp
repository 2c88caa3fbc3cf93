// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <weft/network/part/halve.hpp>
#include <weft/study/map/geometry.hpp>

namespace weft::map {

Geometry::Geometry(const Problem& problem, std::uint32_t seed, bool last_axis_first)
    : problem_(problem), seed_(seed), last_axis_first_(last_axis_first) {
  const Shape& shape = *problem.topology().shape;
  axes_.assign(shape.axes().begin(), shape.axes().end());
  in_a_row_ = shape.blocks().has_value();
}

Area Geometry::describe(const std::vector<std::uint32_t>& slots) const {
  Area area;
  area.router = router(slots[slots.size() / 2]);
  area.middle.assign(axes_.size(), 0);
  for (const std::uint32_t s : slots)
    for (std::size_t d = 0; d < axes_.size(); ++d) area.middle[d] += place(s, d);
  for (double& m : area.middle) m /= static_cast<double>(slots.size());
  return area;
}

double Geometry::apart(const Area& a, const Area& b) const {
  if (axes_.empty()) return std::max(0, distance(problem_.topology(), a.router, b.router));
  double sum = 0;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const double gap = std::abs(a.middle[d] - b.middle[d]);
    switch (axes_[d].wiring) {
      case Wiring::complete:
        sum += std::min(gap, 1.0);
        break;
      case Wiring::ring:
        sum += std::min(gap, axes_[d].size - gap);
        break;
      case Wiring::line:
        sum += gap;
        break;
    }
  }
  return sum;
}

std::size_t Geometry::divide(std::vector<std::uint32_t>& slots) const {
  if (!axes_.empty()) return divide_grid(slots);
  if (!in_a_row_ && slots.size() > 2) {
    if (const std::size_t first = divide_graph(slots); first > 0) return first;
  }
  return slots.size() / 2;
}

RouterId Geometry::router(std::uint32_t slot) const {
  return problem_.topology().graph.router_of(problem_.node(slot));
}

int Geometry::place(std::uint32_t slot, std::size_t axis) const {
  std::uint32_t rest = router(slot).index;
  for (std::size_t e = 0; e < axis; ++e) rest /= static_cast<std::uint32_t>(axes_[e].size);
  return static_cast<int>(rest % static_cast<std::uint32_t>(axes_[axis].size));
}

std::size_t Geometry::longest_axis(const std::vector<std::uint32_t>& slots, int& length) const {
  std::size_t axis = 0;
  length = -1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const std::size_t d = last_axis_first_ ? axes_.size() - 1 - i : i;
    int low = axes_[d].size;
    int high = 0;
    for (const std::uint32_t s : slots) {
      low = std::min(low, place(s, d));
      high = std::max(high, place(s, d));
    }
    if (high - low <= length) continue;
    length = high - low;
    axis = d;
  }
  return axis;
}

// Across the longest axis, between the two planes that are nearest to the middle.
std::size_t Geometry::divide_grid(std::vector<std::uint32_t>& slots) const {
  int length = 0;
  const std::size_t axis = longest_axis(slots, length);
  const std::size_t half = slots.size() / 2;
  if (length == 0) return half;
  std::stable_sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) {
    return place(a, axis) < place(b, axis);
  });
  std::size_t best = half;
  std::size_t nearest = slots.size();
  for (std::size_t i = 1; i < slots.size(); ++i) {
    if (place(slots[i - 1], axis) == place(slots[i], axis)) continue;
    const std::size_t gap = i > half ? i - half : half - i;
    if (gap >= nearest) continue;
    nearest = gap;
    best = i;
  }
  return best;
}

// Routers with the cables between them, in two by METIS.
std::size_t Geometry::divide_graph(std::vector<std::uint32_t>& slots) const {
  const Graph& graph = problem_.topology().graph;
  std::vector<std::uint32_t> place_of(graph.router_count(), anywhere);
  std::vector<std::uint32_t> routers;
  for (const std::uint32_t s : slots) {
    std::uint32_t& known = place_of[router(s).index];
    if (known != anywhere) continue;
    known = static_cast<std::uint32_t>(routers.size());
    routers.push_back(router(s).index);
  }
  if (routers.size() < 2) return 0;
  detail::HalvingTask task;
  task.seed = seed_;
  task.first.push_back(0);
  for (const std::uint32_t r : routers) {
    for (const Port& port : graph.ports(RouterId(r))) {
      if (!port.usable() || place_of[port.peer.index] == anywhere || port.peer.index == r) continue;
      task.peer.push_back(place_of[port.peer.index]);
      task.weight.push_back(1);
    }
    task.first.push_back(static_cast<std::uint32_t>(task.peer.size()));
  }
  const auto side = detail::halve_graph(task);
  if (!side) return 0;
  const auto middle = std::stable_partition(slots.begin(), slots.end(), [&](std::uint32_t s) {
    return (*side)[place_of[router(s).index]] == 0;
  });
  const auto first = static_cast<std::size_t>(middle - slots.begin());
  return first == slots.size() ? 0 : first;
}

}  // namespace weft::map
