// SPDX-License-Identifier: Apache-2.0
// A leg is the minimal way from one router to another, with VC classes that keep it free of
// deadlock. `dor` and `minimal` are one leg, `valiant` and `ugal-l` are one or two: they are
// written once, over this shape of class:
//
//   LegStep step(RouterId here, RouterId target, std::uint32_t state, bool fresh) const;
//       REQUIRES: here != target. `fresh`: first step of the leg, `state` holds random bits.
//   int distance(RouterId here, RouterId target) const;   Links that step() will cross, at most.
//   int hops_max() const;
//   bool one_way() const;        The way depends on the two routers only, not on random bits.
//   static constexpr bool alike; And no random bits go into the state of a step.
//   int vcs_needed() const;      For one leg.
//   LegMasks masks(int first, int count) const;           VC masks by class, within a range.
//   unsigned classes_used() const;                        Bit c: class c occurs.
//   std::span<const RouterId> middles() const;            Only where not all routers may be the
//                                                         middle of a detour.
//
// One leg alone asks one_way(), alike, vcs_needed() and classes_used(), two legs do not.
#pragma once

#include <array>
#include <cstdint>

#include <weft/network/route/policy.hpp>

namespace weft::detail {

struct LegStep {
  static constexpr std::uint16_t nowhere = 0xfffe;  // Every cable of the only way is down.

  std::uint16_t port = nowhere;
  std::uint8_t vc_class = 0;
  bool tossed = false;  // Random bits have decided between ports.
  std::uint32_t state = 0;
};

// Lower half, upper half, all.
using LegMasks = std::array<VcMask, 3>;
inline constexpr std::uint8_t class_lower = 0, class_upper = 1, class_any = 2;

constexpr LegMasks halves(int first, int count) {
  return {vc_range(first, count / 2), vc_range(first + count / 2, count - count / 2),
          vc_range(first, count)};
}

// One VC at every step: then packets on one path cannot overtake each other.
bool single_vcs(const LegMasks& masks, unsigned classes_used);

}  // namespace weft::detail
