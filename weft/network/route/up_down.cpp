// SPDX-License-Identifier: Apache-2.0
// `up-down` on any graph, broken cables included (up*/down*, Autonet): routers are ranked, in the
// way that loads the busiest link least. A step to a lower rank is up. Legal paths go up, then
// down, never up again: as ranks along a chain of waiting packets first fall and then rise, it
// cannot close, with one VC. A packet takes a shortest legal path; a hash of the two nodes chooses
// among equal next steps, so that pairs spread and each pair keeps its order.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/distance_table.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/up_down_paths.hpp>

namespace weft::detail {
namespace {

class UpDown final : public Policy {
 public:
  UpDown(const Topology& t, Ranking ranking, bool wide, int vcs)
      : graph_(t.graph),
        ranking_(std::move(ranking)),
        legal_(t, wide),
        down_(t, wide),
        vcs_(vc_range(0, vcs)) {
    fill();
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const bool falling = flight.hops != 0 && flight.state != 0;
    const int left = (falling ? down_ : legal_).at(here, flight.destination);
    const auto ports = graph_.ports(here);
    const auto fits = [&](std::size_t p) {
      if (!ports[p].usable() || !view.up(static_cast<int>(p))) return false;
      const RouterId peer = ports[p].peer;
      const bool up = ranking_.is_up(here, peer);
      if (falling && up) return false;
      return (up ? legal_ : down_).at(peer, flight.destination) + 1 == left;
    };
    std::uint64_t count = 0;
    for (std::size_t p = 0; p < ports.size(); ++p) count += fits(p) ? 1 : 0;
    if (count == 0) return;
    std::uint64_t skip = hash(flight, here) % count;
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (!fits(p) || skip-- != 0) continue;
      out.add({.port = static_cast<std::uint16_t>(p),
               .vcs = vcs_,
               .state = ranking_.is_up(here, ports[p].peer) ? 0u : 1u});
      return;
    }
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = hops_max_,
            .asks_source = true,
            .looks = false,
            .in_order = std::popcount(vcs_) == 1,
            .one_path = true};
  }

 private:
  static std::uint64_t hash(const Flight& flight, RouterId here) {
    const std::uint64_t pair =
        (std::uint64_t{flight.source_node.index} << 32) | flight.destination_node.index;
    return mix(mix(pair) + here.index);
  }

  void fill() {
    UpDownPaths paths(graph_, ranking_);
    for (const RouterId to : legal_.destinations()) {
      paths.search(to);
      for (const RouterId from : legal_.destinations())
        if (paths.legal()[from.index] != DistanceTable::unreachable)
          hops_max_ = std::max<int>(hops_max_, paths.legal()[from.index]);
      down_.set(to, paths.down());
      legal_.set(to, paths.legal());
    }
  }

  const Graph& graph_;
  Ranking ranking_;
  DistanceTable legal_;  // Shortest legal path from here, upward steps still allowed.
  DistanceTable down_;   // Shortest path that only goes down.
  VcMask vcs_;
  int hops_max_ = 0;
};

int vcs_up_down(const Topology&) {
  return 1;
}
MadePolicy make_up_down(const Topology& t, int vcs) {
  // Up to the root and down again is legal, so no path is longer than twice the depth.
  if (const Status fits = DistanceTable::fits(t, "up-down", 2, false); !fits) return fits.error();
  Ranking ranking = choose_ranking(t.graph);
  const bool wide = 2 * ranking.depth_max() >= 0xff;
  if (const Status fits = DistanceTable::fits(t, "up-down", 2, wide); !fits) return fits.error();
  return MadePolicy(std::make_unique<UpDown>(t, std::move(ranking), wide, vcs));
}

}  // namespace

extern const PolicyEntry up_down_policy{
    .name = "up-down",
    .help = "shortest up*/down* path on any graph",
    .vcs_needed = &vcs_up_down,
    .make = &make_up_down,
    .usual = true,
    .any_graph = true,
};

}  // namespace weft::detail
