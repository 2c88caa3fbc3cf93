// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/study/map/lattice_paths.hpp>

namespace weft::map {

LatticePaths::LatticePaths(const Topology& topology, TieRule ties) {
  const Lattice& lattice = *topology.shape->lattice();
  const Graph& graph = topology.graph;
  std::uint32_t stride = 1;
  std::size_t longest = 0;
  for (std::size_t d = 0; d < lattice.radix.size(); ++d) {
    axes_.push_back({lattice.radix[d], lattice.wrap[d], stride});
    stride *= static_cast<std::uint32_t>(lattice.radix[d]);
    longest += static_cast<std::size_t>(lattice.radix[d]);
    if (ties == TieRule::coin && lattice.wrap[d] && lattice.radix[d] % 2 == 0) whole_ = 2;
  }
  place_.reserve(graph.router_count() * axes_.size());
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    std::uint32_t rest = r;
    for (const Axis& axis : axes_) {
      place_.push_back(static_cast<std::uint16_t>(rest % static_cast<unsigned>(axis.radix)));
      rest /= static_cast<unsigned>(axis.radix);
    }
  }
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    routers_.push_back(graph.router_of(NodeId(n)).index);
  found_.resize(longest);
}

// Calls take(link, share) for a run of links that begins at a router. Up to the wrap and from there
// on, links follow each other at equal distances.
template <typename Take>
inline void LatticePaths::follow(std::size_t axis, std::uint32_t router, Run run, Take take) const {
  const Axis& a = axes_[axis];
  const auto ports = static_cast<std::uint32_t>(2 * axes_.size());
  const auto radix = static_cast<std::uint32_t>(a.radix);
  const std::uint32_t x = place_[router * axes_.size() + axis];
  const std::uint32_t share = run.tie && whole_ == 2 ? 1 : whole_;
  const std::uint32_t before = std::min(run.length, run.up ? radix - x : x + 1);
  const std::uint32_t step = run.up ? ports * a.stride : 0 - ports * a.stride;
  std::uint32_t link = router * ports + static_cast<std::uint32_t>(2 * axis + (run.up ? 0 : 1));
  for (std::uint32_t i = 0; i < before; ++i, link += step) take(link, share);
  link -= radix * step;
  for (std::uint32_t i = before; i < run.length; ++i, link += step) take(link, share);
}

template <typename Take>
inline std::uint32_t LatticePaths::walk(NodeId from, NodeId to, Take take) const {
  std::uint32_t here = routers_[from.index];
  const std::uint16_t* const a = &place_[here * axes_.size()];
  const std::uint16_t* const b = &place_[routers_[to.index] * axes_.size()];
  std::uint32_t hops = 0;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (a[d] == b[d]) continue;
    Run way = run(axes_[d], a[d], b[d]);
    hops += way.length;
    follow(d, here, way, take);
    if (way.tie && whole_ == 2) {
      way.up = false;
      follow(d, here, way, take);
    }
    here += (static_cast<std::uint32_t>(b[d]) - a[d]) * axes_[d].stride;
  }
  return hops;
}

std::span<const Crossing> LatticePaths::between(NodeId from, NodeId to) {
  Crossing* out = found_.data();
  walk(from, to, [&](std::uint32_t link, std::uint32_t share) { *out++ = {link, share}; });
  return {found_.data(), out};
}

std::uint32_t LatticePaths::pour(NodeId from, NodeId to, double bytes, Deltas& deltas) {
  deltas.reserve(found_.size() + 1);
  if (whole_ == 1)
    return walk(from, to, [&](std::uint32_t link, std::uint32_t) { deltas.add(link, bytes); });
  return walk(from, to,
              [&](std::uint32_t link, std::uint32_t share) { deltas.add(link, bytes * share); });
}

std::uint32_t LatticePaths::hops(NodeId from, NodeId to) {
  const std::uint16_t* const a = &place_[routers_[from.index] * axes_.size()];
  const std::uint16_t* const b = &place_[routers_[to.index] * axes_.size()];
  std::uint32_t sum = 0;
  for (std::size_t d = 0; d < axes_.size(); ++d) sum += run(axes_[d], a[d], b[d]).length;
  return sum;
}

}  // namespace weft::map
