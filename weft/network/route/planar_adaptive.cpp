// SPDX-License-Identifier: Apache-2.0
// `planar-adaptive` on a 2-D mesh (Chien and Kim, ISCA 1992, with the VCs of BookSim's
// planar_adapt): while x is left to go, x in the upper third of the VCs or y in the lowest third
// (going up in x) or the middle third (going down); once x is done, y in the upper third.
//
// No cycle: packets going up in x hold x-up channels of the upper third and y channels of the
// lowest; x never falls on such a chain and y alone does not turn back. The same going down, on
// channels of its own. From both one may only pass into y of the upper third, where all go straight
// to the end.
#include <algorithm>
#include <bit>
#include <cstdint>

#include <weft/network/route/families.hpp>
#include <weft/network/route/grid.hpp>

namespace weft::detail {
namespace {

class PlanarAdaptive final : public Policy {
 public:
  PlanarAdaptive(const Topology& t, int vcs)
      : grid_(t.shape->lattice()->radix, t.graph.router_count()),
        lowest_(vc_range(0, vcs / 3)),
        middle_(vc_range(vcs / 3, vcs / 3)),
        upper_(vc_range(2 * (vcs / 3), vcs - 2 * (vcs / 3))) {
    for (const int radix : t.shape->lattice()->radix) hops_max_ += radix - 1;
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    const std::uint64_t from = grid_.word(here);
    const std::uint64_t to = grid_.word(flight.destination);
    if (from == to) return out.add_eject();
    const int dx = grid_.coordinate(to, 0) - grid_.coordinate(from, 0);
    const int dy = grid_.coordinate(to, 1) - grid_.coordinate(from, 1);
    Choice x{.port = toward(0, dx), .vcs = upper_, .state = flight.state};
    Choice y{.port = toward(1, dy), .vcs = upper_, .state = flight.state};
    if (dx != 0) y.vcs = dx > 0 ? lowest_ : middle_;
    const bool x_open = dx != 0 && view.up(x.port);
    const bool y_open = dy != 0 && view.up(y.port);
    const bool y_first = x_open && y_open && room(view, y) > room(view, x);
    if (y_first) out.add(y);
    if (x_open) out.add(x);
    if (y_open && !y_first) out.add(y);
  }

  PolicyFacts facts() const override {
    return {.choices_max = 2,
            .hops_max = hops_max_,
            .asks_source = false,
            .looks = true,
            .in_order = false};
  }

 private:
  static std::uint16_t toward(int axis, int ahead) {
    return static_cast<std::uint16_t>(ahead > 0 ? Lattice::up_port(axis)
                                                : Lattice::down_port(axis));
  }
  // The roomiest VC the choice could take: the thirds may differ in number of VCs.
  static std::int64_t room(const PortView& view, const Choice& choice) {
    std::int64_t most = 0;
    for (VcMask left = choice.vcs; left != 0; left &= left - 1)
      most = std::max(most, view.free(choice.port, std::countr_zero(left)).count);
    return most;
  }

  Grid grid_;
  VcMask lowest_, middle_, upper_;
  int hops_max_ = 0;
};

}  // namespace

int vcs_planar_adaptive(const Topology& t) {
  const Lattice* const lattice = t.shape->lattice();
  return lattice != nullptr && lattice->dimensions() == 2 && !lattice->wrap[0] && !lattice->wrap[1]
             ? 3
             : 0;
}
static MadePolicy make_planar_adaptive(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<PlanarAdaptive>(t, vcs));
}

extern const PolicyEntry planar_adaptive_policy{
    .name = "planar-adaptive",
    .help = "x or y on a 2-D mesh, whichever has more room",
    .vcs_needed = &vcs_planar_adaptive,
    .make = &make_planar_adaptive,
};

}  // namespace weft::detail
