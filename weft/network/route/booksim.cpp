// SPDX-License-Identifier: Apache-2.0
// What two adaptive routings of BookSim do in effect, to be compared with its curves, not to be
// used. There a packet's candidates are kept in a set that is ordered by priority alone, and of
// those with the same priority only the first is kept. So neither of the two adapts.
//
// `min-adaptive-booksim` (min_adapt): the escape of `min-adaptive`, and the adaptive VCs of the
// first direction, which is the escape's too (but for half-way round a ring, where it goes down).
// The allocator does not look at priorities, and mostly comes upon the escape first. On a torus VC
// 3 alone is adaptive; VC 2 serves injection and nothing else.
//
// `planar-adaptive-booksim` (planar_adapt): x, then y, in the upper third of the VCs.
#include <bit>
#include <cstdint>
#include <memory>

#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/grid.hpp>

namespace weft::detail {
namespace {

class MinAdaptiveBooksim final : public Policy {
 public:
  MinAdaptiveBooksim(const Topology& t, int vcs)
      : legs_(t),
        escape_(legs_.masks(0, legs_.vcs_needed())),
        adaptive_(legs_.wraps() && vcs > 3
                      ? vc_range(3, 1)
                      : vc_range(legs_.vcs_needed(), vcs - legs_.vcs_needed())) {}

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const bool escaped = flight.hops > 0 && (flight.state & escaped_bit) != 0;
    const auto bits = static_cast<std::uint32_t>(flight.state);
    const LegStep step = legs_.step(here, flight.destination, bits, !escaped);
    if (view.up(step.port)) {
      out.add({.port = step.port,
               .escape = true,
               .vcs = escape_[step.vc_class],
               .state = escaped_bit | step.state});
    }
    const std::uint16_t ahead = first_direction(here, flight.destination);
    if (!escaped && view.up(ahead)) out.add({.port = ahead, .vcs = adaptive_, .state = bits});
  }

  PolicyFacts facts() const override {
    return {.choices_max = 2,
            .hops_max = legs_.hops_max(),
            .asks_source = false,
            .looks = false,
            .in_order = false};
  }

 private:
  static constexpr std::uint64_t escaped_bit = std::uint64_t{1} << 63;

  std::uint16_t first_direction(RouterId here, RouterId target) const {
    const std::uint64_t from = legs_.grid().word(here), to = legs_.grid().word(target);
    const int axis = legs_.grid().first_axis(from ^ to);
    return CubeLegs::port(axis, legs_.directions(axis, from, to) == 1u);
  }

  CubeLegs legs_;
  LegMasks escape_;
  VcMask adaptive_;
};

class PlanarAdaptiveBooksim final : public Policy {
 public:
  PlanarAdaptiveBooksim(const Topology& t, int vcs)
      : legs_(t), upper_(vc_range(2 * (vcs / 3), vcs - 2 * (vcs / 3))) {}

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const LegStep step = legs_.step(here, flight.destination, 0, true);
    if (view.up(step.port)) out.add({.port = step.port, .vcs = upper_, .state = flight.state});
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = legs_.hops_max(),
            .asks_source = false,
            .looks = false,
            .in_order = std::has_single_bit(upper_),
            .one_path = legs_.one_way()};
  }

 private:
  CubeLegs legs_;
  VcMask upper_;
};

}  // namespace

static MadePolicy make_min_adaptive_booksim(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<MinAdaptiveBooksim>(t, vcs));
}
static MadePolicy make_planar_adaptive_booksim(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<PlanarAdaptiveBooksim>(t, vcs));
}

extern const PolicyEntry planar_adaptive_booksim_policy{
    .name = "planar-adaptive-booksim",
    .help = "x, then y, in a third of the VCs, as BookSim's planar_adapt",
    .vcs_needed = &vcs_planar_adaptive,
    .make = &make_planar_adaptive_booksim,
};
extern const PolicyEntry min_adaptive_booksim_policy{
    .name = "min-adaptive-booksim",
    .help = "dimension order in two sorts of VCs, as BookSim's min_adapt",
    .vcs_needed = &vcs_min_adaptive,
    .make = &make_min_adaptive_booksim,
};

}  // namespace weft::detail
