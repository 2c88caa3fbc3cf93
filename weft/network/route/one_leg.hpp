// SPDX-License-Identifier: Apache-2.0
// A policy of one leg: straight to the destination.
#pragma once

#include <utility>

#include <weft/network/route/legs.hpp>

namespace weft::detail {

template <typename Legs>
class OneLeg : public Policy {
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

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = legs_.hops_max(),
            .asks_source = false,
            .looks = false,
            .in_order = legs_.one_way() && single_vcs(masks_, legs_.classes_used()),
            .one_path = legs_.one_way(),
            .alike = Legs::alike};
  }

 protected:
  const Legs& legs() const { return legs_; }
  const LegMasks& masks() const { return masks_; }

 private:
  Legs legs_;
  LegMasks masks_;
};

}  // namespace weft::detail
