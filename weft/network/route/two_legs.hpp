// SPDX-License-Identifier: Apache-2.0
// `valiant`: to a random router, then to the destination. `ugal-l`: that, or straight, whichever
// promises less waiting. Both over any kind of leg. The legs have VCs of their own, the second
// leg's above the first's: no packet goes from the second leg back to the first, so there is no
// cycle if there is none in a leg.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

enum class Detour { always, by_queue };

template <typename Legs>
class TwoLegs final : public Policy {
 public:
  TwoLegs(Legs legs, std::uint32_t router_count, int vcs, Detour detour)
      : legs_(std::move(legs)), router_count_(router_count), detour_(detour) {
    if constexpr (requires { legs_.middles(); })
      middles_.assign(legs_.middles().begin(), legs_.middles().end());
    WEFT_CHECK(router_count <= middle_mask);
    masks_[0] = legs_.masks(0, vcs / 2);
    masks_[1] = legs_.masks(vcs / 2, vcs - vcs / 2);
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    Route route = flight.hops == 0 ? start(here, flight, view) : unpack(flight.state);
    // Passing the destination on the first leg is no arrival, as with BookSim.
    if (!route.last && here == route.middle)
      route = {.leg_state = static_cast<std::uint32_t>(mix(flight.state)),
               .middle = route.middle,
               .last = true,
               .upper = true,
               .fresh = true};
    if (route.last && here == flight.destination) return out.add_eject();
    const LegStep step = legs_.step(here, route.last ? flight.destination : route.middle,
                                    route.leg_state, route.fresh);
    if (step.port == LegStep::nowhere || !view.up(step.port)) return;
    route.leg_state = step.state;
    out.add({.port = step.port,
             .vcs = masks_[route.upper ? 1u : 0u][step.vc_class],
             .state = pack(route)});
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
  struct Route {
    std::uint32_t leg_state = 0;
    RouterId middle;
    bool last = false;   // Heads for the destination.
    bool upper = false;  // In the second leg's VCs.
    bool fresh = false;
  };
  static std::uint64_t pack(const Route& route) {
    return route.leg_state | (std::uint64_t{route.middle.index} << 32) |
           (std::uint64_t{route.last} << 62) | (std::uint64_t{route.upper} << 63);
  }
  static Route unpack(std::uint64_t state) {
    return {.leg_state = static_cast<std::uint32_t>(state),
            .middle = RouterId(static_cast<std::uint32_t>(state >> 32) & middle_mask),
            .last = ((state >> 62) & 1u) != 0,
            .upper = ((state >> 63) & 1u) != 0};
  }

  Route start(RouterId here, const Flight& flight, const PortView& view) const {
    const std::uint64_t drawn = mix(flight.state);
    const std::size_t count = middles_.empty() ? router_count_ : middles_.size();
    const auto middle =
        static_cast<std::uint32_t>((static_cast<detail::UnsignedWide>(drawn) * count) >> 64);
    Route route{.leg_state = static_cast<std::uint32_t>(flight.state),
                .middle = middles_.empty() ? RouterId(middle) : middles_[middle],
                .fresh = true};
    if (detour_ == Detour::by_queue && straight_is_better(here, flight, view, route)) {
      route.last = true;
      // Straight packets may live in either leg's VCs if they stay there: the coin uses both.
      route.upper = (flight.state >> 63) != 0;
    }
    return route;
  }

  // Queue times hops as the time expected (Singh 2005; Kim et al. 2008). Equal queues, as in an
  // idle network, must not cause detours, nor a straight way that merely flows: the threshold that
  // both papers set by hand.
  bool straight_is_better(RouterId here, const Flight& flight, const PortView& view,
                          const Route& route) const {
    if (here == flight.destination || route.middle == here || route.middle == flight.destination)
      return true;
    const LegStep straight = legs_.step(here, flight.destination, route.leg_state, true);
    const LegStep detour = legs_.step(here, route.middle, route.leg_state, true);
    if (detour.port == LegStep::nowhere || !view.up(detour.port)) return true;
    if (straight.port == LegStep::nowhere || !view.up(straight.port)) return false;
    const int hops = legs_.distance(here, flight.destination);
    const int hops_detour =
        legs_.distance(here, route.middle) + legs_.distance(route.middle, flight.destination);
    const Bytes waiting = view.queued(straight.port) - view.flowing(straight.port);
    return waiting.count * hops <= view.queued(detour.port).count * hops_detour;
  }

  Legs legs_;
  std::uint32_t router_count_;
  Detour detour_;
  std::vector<RouterId> middles_;  // Empty: any router.
  std::array<decltype(std::declval<Legs>().masks(0, 0)), 2> masks_{};
};

}  // namespace weft::detail
