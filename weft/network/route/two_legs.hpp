// SPDX-License-Identifier: Apache-2.0
// `valiant`: to a random router, then to the destination. `ugal-l`: that, or straight, whichever
// promises less waiting. Both over any kind of leg. The legs have VCs of their own, the second
// leg's above the first's: nobody goes from the second leg back to the first, so there is no cycle
// if there is none in a leg.
#pragma once

#include <cstdint>
#include <utility>

#include <weft/base/rng.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

enum class Detour { always, by_queue };

template <typename Legs>
class TwoLegs final : public Policy {
 public:
  TwoLegs(Legs legs, std::uint32_t router_count, int vcs, Detour detour)
      : legs_(std::move(legs)), router_count_(router_count), detour_(detour) {
    WEFT_CHECK(router_count <= middle_mask);
    masks_[0] = legs_.masks(0, vcs / 2);
    masks_[1] = legs_.masks(vcs / 2, vcs - vcs / 2);
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    Way way = flight.hops == 0 ? start(here, flight, view) : unpack(flight.state);
    // Passing the destination on the first leg is no arrival, as with BookSim.
    if (!way.last && here == way.middle)
      way = {.leg_state = static_cast<std::uint32_t>(mix(flight.state)),
             .middle = way.middle,
             .last = true,
             .upper = true,
             .fresh = true};
    if (way.last && here == flight.destination) return out.add_eject();
    const LegStep step =
        legs_.step(here, way.last ? flight.destination : way.middle, way.leg_state, way.fresh);
    if (step.port == LegStep::nowhere || !view.up(step.port)) return;
    way.leg_state = step.state;
    out.add(
        {.port = step.port, .vcs = masks_[way.upper ? 1u : 0u][step.vc_class], .state = pack(way)});
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = 2 * legs_.hops_max(),
            .asks_source = false,
            .looks = detour_ == Detour::by_queue,
            .in_order = false};
  }

 private:
  // State: 32 bits of the leg, 30 bits of the router in the middle, on the last leg, VCs of the
  // upper leg.
  static constexpr std::uint32_t middle_mask = (1u << 30) - 1;
  struct Way {
    std::uint32_t leg_state = 0;
    RouterId middle;
    bool last = false;   // Heads for the destination.
    bool upper = false;  // In the second leg's VCs.
    bool fresh = false;
  };
  static std::uint64_t pack(const Way& way) {
    return way.leg_state | (std::uint64_t{way.middle.index} << 32) |
           (std::uint64_t{way.last} << 62) | (std::uint64_t{way.upper} << 63);
  }
  static Way unpack(std::uint64_t state) {
    return {.leg_state = static_cast<std::uint32_t>(state),
            .middle = RouterId(static_cast<std::uint32_t>(state >> 32) & middle_mask),
            .last = ((state >> 62) & 1u) != 0,
            .upper = ((state >> 63) & 1u) != 0};
  }

  Way start(RouterId here, const Flight& flight, const PortView& view) const {
    const std::uint64_t drawn = mix(flight.state);
    const auto middle = static_cast<std::uint32_t>(
        (static_cast<detail::UnsignedWide>(drawn) * router_count_) >> 64);
    Way way{.leg_state = static_cast<std::uint32_t>(flight.state),
            .middle = RouterId(middle),
            .fresh = true};
    if (detour_ == Detour::by_queue && straight_is_better(here, flight, view, way)) {
      way.last = true;
      // Straight packets may live in either leg's VCs if they stay there: the coin uses both.
      way.upper = (flight.state >> 63) != 0;
    }
    return way;
  }

  // Queue times hops as the time expected (Singh 2005; Kim et al. 2008). Equal queues, as in an
  // idle network, must not cause detours.
  bool straight_is_better(RouterId here, const Flight& flight, const PortView& view,
                          const Way& way) const {
    if (here == flight.destination || way.middle == here || way.middle == flight.destination)
      return true;
    const LegStep straight = legs_.step(here, flight.destination, way.leg_state, true);
    const LegStep detour = legs_.step(here, way.middle, way.leg_state, true);
    if (detour.port == LegStep::nowhere || !view.up(detour.port)) return true;
    if (straight.port == LegStep::nowhere || !view.up(straight.port)) return false;
    const int hops = legs_.distance(here, flight.destination);
    const int hops_detour =
        legs_.distance(here, way.middle) + legs_.distance(way.middle, flight.destination);
    return view.queued(straight.port).count * hops <= view.queued(detour.port).count * hops_detour;
  }

  Legs legs_;
  std::uint32_t router_count_;
  Detour detour_;
  std::array<LegMasks, 2> masks_{};
};

}  // namespace weft::detail
