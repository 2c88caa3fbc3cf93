// SPDX-License-Identifier: Apache-2.0
// Shortest paths on any graph, broken cables left out, in layers of VCs that keep them free of
// deadlock. Routers are ranked; a step to a lower rank is up. Within a layer a packet goes up, then
// down; to go up again it moves to the next layer. Ranks along a chain of waiting packets of one
// layer first fall and then rise, so it cannot close, and no packet returns to a lower layer.
//
// A path of n links turns up again at most n/2 times: half the VCs of a class for each hop.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <weft/network/route/distance_table.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/route/ranking.hpp>

namespace weft::detail {

// Layers with which every pair of routers has a shortest path, and with which all shortest paths of
// every pair can be used.
struct LayersNeeded {
  int least = 1;
  int all = 1;
  RankingRule::By ranked_by = RankingRule::By::distance;  // With this ranking.
  // Layers if their number is not given: for all paths, if that is not too dear.
  int usual() const;
};
// Exact by search in a small network, bounds from the diameter in a large one.
LayersNeeded find_layers(const Topology& topology);

// A packet on its way: the layer, and whether its last step went down.
struct LayerPlace {
  std::uint8_t layer = 0;
  bool falling = false;

  static LayerPlace unpack(std::uint64_t bits) {
    return {static_cast<std::uint8_t>(bits & 31u), (bits & 32u) != 0};
  }
  std::uint32_t pack() const { return layer | (falling ? 32u : 0u); }
};

class LayeredPaths {
 public:
  static constexpr int bits = 6;  // Bits of a packed LayerPlace.
  static Status fits(const Topology& topology, std::string_view policy);

  // REQUIRES: fits(), find_layers(topology).least <= layers <= max_vcs.
  LayeredPaths(const Topology& topology, int layers);

  int layers() const { return layers_; }
  int hops_max() const { return hops_max_; }
  // Only to routers that have nodes.
  int distance(RouterId from, RouterId to) const { return distance_.at(from, to); }
  std::span<const RouterId> ends() const { return distance_.destinations(); }

  // Where a new packet may begin: in any layer that leaves enough above it.
  LayerPlace start(RouterId from, RouterId to, std::uint64_t hash) const {
    const int spare = std::max(0, layers_ - 1 - turns(from, to, false));  // 0 if out of reach.
    return {static_cast<std::uint8_t>(hash % static_cast<std::uint64_t>(spare + 1)), false};
  }

  struct Step {
    int port = -1;  // -1: none.
    LayerPlace place;
  };
  // One of the next steps on a shortest path, chosen by `hash`; `open(port)` says which may be
  // used.
  template <typename Open>
  Step choose(RouterId here, RouterId to, LayerPlace place, std::uint64_t hash, Open open) const;

  // Does the cable lie on a shortest path, no matter in which layer?
  bool leads(RouterId here, const Port& port, RouterId to) const {
    return port.usable() && distance_.at(port.peer, to) + 1 == distance_.at(here, to);
  }

  // The VCs of each layer, when `count` of them from `first` on are shared out.
  static std::array<VcMask, max_vcs> masks(int layers, int first, int count);

 private:
  // How often the best shortest path must yet turn up.
  int turns(RouterId from, RouterId to, bool falling) const {
    const int both = turns_.at(from, to);
    return both / 2 + (falling ? both % 2 : 0);
  }
  LayerPlace after(RouterId here, RouterId peer, LayerPlace place) const {
    const bool up = ranking_.is_up(here, peer);
    return {static_cast<std::uint8_t>(place.layer + (up && place.falling ? 1 : 0)), !up};
  }
  bool enough(RouterId peer, RouterId to, LayerPlace place) const {
    return place.layer + turns(peer, to, place.falling) < layers_;
  }

  const Graph& graph_;
  Ranking ranking_;
  int layers_;
  int hops_max_ = 0;
  DistanceTable distance_;
  DistanceTable turns_;  // Twice the turns of a packet that may go up, plus 1 if one more when not.
};

template <typename Open>
LayeredPaths::Step LayeredPaths::choose(RouterId here, RouterId to, LayerPlace place,
                                        std::uint64_t hash, Open open) const {
  const auto ports = graph_.ports(here);
  const int left = distance_.at(here, to);
  const auto fitting = [&](std::size_t p) {
    return ports[p].usable() && distance_.at(ports[p].peer, to) + 1 == left &&
           open(static_cast<int>(p)) &&
           enough(ports[p].peer, to, after(here, ports[p].peer, place));
  };
  std::uint64_t count = 0;
  for (std::size_t p = 0; p < ports.size(); ++p) count += fitting(p) ? 1 : 0;
  if (count == 0) return {};
  std::uint64_t skip = hash % count;
  for (std::size_t p = 0; p < ports.size(); ++p)
    if (fitting(p) && skip-- == 0) return {static_cast<int>(p), after(here, ports[p].peer, place)};
  return {};
}

}  // namespace weft::detail
