// SPDX-License-Identifier: Apache-2.0
// A policy of one leg: straight to the destination.
#pragma once

#include <utility>

#include <weft/network/route/grid.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

template <typename Legs>
class OneLeg final : public Policy {
 public:
  OneLeg(Legs legs, int vcs) : legs_(std::move(legs)), masks_(legs_.masks(0, vcs)) {}

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const LegStep step = legs_.step(here, flight.destination,
                                    static_cast<std::uint32_t>(flight.state), flight.hops == 0);
    if (step.port == LegStep::nowhere || !view.up(step.port)) return;
    out.add({.port = step.port, .vcs = masks_[step.vc_class], .state = step.state});
  }

  // The same for a packet that is not at its destination while all cables are up, without detours.
  // Routers are given by their places(), which saves looking those up at every hop.
  Choice straight(std::uint64_t here, std::uint64_t destination, std::uint64_t state,
                  bool fresh) const {
    const LegStep step =
        legs_.step_between(here, destination, static_cast<std::uint32_t>(state), fresh);
    return {.port = step.port,
            .vcs = masks_[step.vc_class],
            .state = step.state | (step.tossed ? tossed_bit : 0u)};
  }
  const Grid& places() const { return legs_.grid(); }
  // Packets that follow each other out of one buffer to one destination. After the first, sent on
  // as `sent` by straight(), straight() gives the second the same port and VCs and the state
  // follow(sent, state), unless random bits decided. For then one is as fresh as the other, or they
  // have come through the same dimension, in the same half of the VCs.
  static bool leads(std::uint64_t sent) { return (sent & tossed_bit) == 0; }
  static std::uint64_t follow(std::uint64_t sent, std::uint64_t state) {
    return sent ^ ((sent ^ state) & Legs::kept_bits());
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = legs_.hops_max(),
            .asks_source = false,
            .looks = false,
            .in_order = legs_.one_way() && single_vcs(masks_, legs_.classes_used())};
  }

 private:
  static constexpr std::uint32_t tossed_bit = 1u << 31;  // No leg uses it.

  Legs legs_;
  LegMasks masks_;
};

}  // namespace weft::detail
