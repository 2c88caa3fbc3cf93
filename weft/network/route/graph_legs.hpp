// SPDX-License-Identifier: Apache-2.0
// A shortest path on any graph, broken cables left out, as a leg: the VC class is the layer. Among
// equal next steps the packet's bits choose.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <weft/base/rng.hpp>
#include <weft/network/route/layered_paths.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

class GraphLegs {
 public:
  GraphLegs(const Topology& topology, int layers)
      : paths_(std::make_unique<const LayeredPaths>(topology, layers)) {}

  LegStep step(RouterId here, RouterId target, std::uint32_t state, bool fresh) const {
    constexpr std::uint32_t place_mask = (1u << LayeredPaths::bits) - 1;
    const std::uint32_t bits = state & ~place_mask;
    const std::uint64_t hash = mix((std::uint64_t{bits} << 32) | here.index);
    const LayerPlace place =
        fresh ? paths_->start(here, target, hash >> 32) : LayerPlace::unpack(state & place_mask);
    const auto next = paths_->choose(here, target, place, hash, [](int) { return true; });
    if (next.port < 0) return {};
    return {.port = static_cast<std::uint16_t>(next.port),
            .vc_class = next.place.layer,
            .state = bits | next.place.pack()};
  }
  int distance(RouterId here, RouterId target) const { return paths_->distance(here, target); }
  int hops_max() const { return paths_->hops_max(); }
  std::array<VcMask, max_vcs> masks(int first, int count) const {
    return LayeredPaths::masks(paths_->layers(), first, count);
  }
  // Routers that a detour may lead to: those with nodes, as only they are sure to be reached.
  std::span<const RouterId> middles() const { return paths_->ends(); }

 private:
  std::unique_ptr<const LayeredPaths> paths_;
};

}  // namespace weft::detail
