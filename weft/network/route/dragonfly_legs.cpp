// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/dragonfly_legs.hpp"

#include <algorithm>

#include <weft/base/rng.hpp>

namespace weft::detail {

int DragonflyLegs::vcs_needed(const Topology& topology) {
  return topology.shape->groups() != nullptr ? 2 : 0;
}

bool DragonflyLegs::reaches_all(const Topology& topology) {
  if (topology.graph.all_up()) return true;
  const DragonflyLegs legs(topology);
  for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r) {
    const auto place = static_cast<int>(legs.position(RouterId(r)));
    if (!legs.bypass_.reaches_all(RouterId(r), legs.local_, place)) return false;
  }
  for (std::uint32_t a = 0; a < legs.groups_; ++a)
    for (std::uint32_t b = 0; b < legs.groups_; ++b)
      if (a != b && legs.cables(a, b).empty()) return false;
  return true;
}

DragonflyLegs::DragonflyLegs(const Topology& topology)
    : size_(static_cast<std::uint32_t>(topology.shape->groups()->size)),
      groups_(static_cast<std::uint32_t>(topology.shape->groups()->count)),
      bypass_(topology.graph),
      local_{0, static_cast<int>(size_)} {
  first_.reserve(std::size_t{groups_} * groups_ + 1);
  for (std::uint32_t g = 0; g < groups_; ++g) {
    const std::size_t begin = cables_.size();
    for (std::uint32_t position = 0; position < size_; ++position) {
      const auto ports = topology.graph.ports(RouterId(g * size_ + position));
      for (std::size_t p = size_ - 1; p < ports.size(); ++p)
        if (ports[p].usable())
          cables_.push_back({.group = group(ports[p].peer),
                             .exit = static_cast<std::uint16_t>(position),
                             .port = static_cast<std::uint16_t>(p),
                             .entry = static_cast<std::uint16_t>(this->position(ports[p].peer))});
    }
    std::stable_sort(cables_.begin() + static_cast<std::ptrdiff_t>(begin), cables_.end(),
                     [](const GlobalCable& a, const GlobalCable& b) { return a.group < b.group; });
    std::size_t at = begin;
    for (std::uint32_t to = 0; to < groups_; ++to) {
      while (at < cables_.size() && cables_[at].group < to) ++at;
      first_.push_back(static_cast<std::uint32_t>(at));
    }
  }
  first_.push_back(static_cast<std::uint32_t>(cables_.size()));
}

const DragonflyLegs::GlobalCable* DragonflyLegs::best_cable(RouterId here, RouterId target) const {
  const std::span<const GlobalCable> all = cables(group(here), group(target));
  int fewest = hops_max() + 1;
  std::uint64_t equals = 0;
  for (const GlobalCable& cable : all) {
    const int h = hops(cable, here, target);
    equals = h < fewest ? 1 : equals + (h == fewest ? 1 : 0);
    fewest = std::min(fewest, h);
  }
  if (equals == 0) return nullptr;
  std::uint64_t skip = mix((std::uint64_t{here.index} << 32) | target.index) % equals;
  for (const GlobalCable& cable : all)
    if (hops(cable, here, target) == fewest && skip-- == 0) return &cable;
  return nullptr;
}

LegStep DragonflyLegs::step(RouterId here, RouterId target, std::uint32_t state, bool fresh) const {
  const std::uint32_t own = position(here);
  if (group(here) == group(target))
    return {.port = local_port(here, position(target), target),
            .vc_class = fresh ? class_any : class_upper,
            .state = 0};
  // The state names the cable chosen at the source of the leg.
  if (fresh) {
    const GlobalCable* cable = best_cable(here, target);
    if (cable == nullptr) return {};
    state = (std::uint32_t{cable->exit} << 16) | cable->port;
  }
  const std::uint32_t exit = state >> 16;
  if (own == exit)
    return {.port = static_cast<std::uint16_t>(state), .vc_class = class_any, .state = state};
  return {.port = local_port(here, exit, target), .vc_class = class_lower, .state = state};
}

int DragonflyLegs::distance(RouterId here, RouterId target) const {
  if (here == target) return 0;
  if (group(here) == group(target)) return local_hops(here, position(target));
  const GlobalCable* cable = best_cable(here, target);
  return cable == nullptr ? hops_max() : hops(*cable, here, target);
}

}  // namespace weft::detail
