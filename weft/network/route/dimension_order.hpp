// SPDX-License-Identifier: Apache-2.0
// Dimension order as the hot path of a simulator asks for it: where all cables are up, a packet's
// next hop follows from coordinates alone, without a virtual call.
#pragma once

#include <cstdint>

#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/one_leg.hpp>

namespace weft::detail {

class DimensionOrder final : public OneLeg<CubeLegs> {
 public:
  using OneLeg<CubeLegs>::OneLeg;

  const DimensionOrder* dimension_order() const override { return this; }

  // As next(), for a packet that is not at its destination while all cables are up. Routers are
  // given by their places(), which saves looking those up at every hop.
  Choice straight(std::uint64_t here, std::uint64_t destination, std::uint64_t state,
                  bool fresh) const {
    const LegStep step =
        legs().step_between(here, destination, static_cast<std::uint32_t>(state), fresh);
    return {.port = step.port,
            .vcs = masks()[step.vc_class],
            .state = step.state | (step.tossed ? tossed_bit : 0u)};
  }
  const Grid& places() const { return legs().grid(); }
  // Are two directions equally short in some dimension, so that a random bit chooses one?
  bool tosses(std::uint64_t from, std::uint64_t to) const {
    bool any = false;
    for (int axis = 0; axis < places().axes(); ++axis)
      any |= legs().directions(axis, from, to) == 3u;
    return any;
  }

  // Packets that leave one buffer one after the other for the same destination. Let straight() have
  // sent the first with state `sent`. It then gives the second the same port and VCs and the state
  // follow(sent, state), unless random bits decided: both are at their source, or both have come
  // through the same dimension in the same half of the VCs.
  static bool leads(std::uint64_t sent) { return (sent & tossed_bit) == 0; }
  static std::uint64_t follow(std::uint64_t sent, std::uint64_t state) {
    return sent ^ ((sent ^ state) & CubeLegs::kept_bits());
  }

 private:
  static constexpr std::uint32_t tossed_bit = 1u << 31;  // No leg uses it.
};

}  // namespace weft::detail
