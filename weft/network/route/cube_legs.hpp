// SPDX-License-Identifier: Apache-2.0
// Dimension order on a mesh, a torus or a mixture, the hot path of most simulations: no division,
// no loop, no allocation.
//
// In a wrapped dimension a packet keeps to the half of the VCs it takes on entering. Going up, the
// upper half if its way wraps; going down, the upper half if it does not. Both say: upper if the
// target's coordinate is the smaller one. So in the lower half no packet going up crosses the wrap,
// and in the upper half those going up wrap at most half of the ring and cannot close it; the same
// mirrored going down.
//
// Balanced (the "partition" of the Cray T3D, BookSim's dim_order_bal): ways that wrap take the
// upper half, ways across the middle of the ring the lower, and others, which do neither, whichever
// the coin says. The upper half is then never used across the middle, the lower never across the
// wrap.
#pragma once

#include <array>
#include <cstdint>

#include <weft/network/route/grid.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

template <bool balanced>
class CubeLegsOf {
 public:
  // Exactly half-way round a ring: by the packet's coin, or always up.
  explicit CubeLegsOf(const Topology& topology, bool half_goes_up = false);
  static int vcs_needed(const Topology& topology);  // 0: not a cube.

  LegStep step(RouterId here, RouterId target, std::uint32_t state, bool fresh) const {
    return step_between(grid_.word(here), grid_.word(target), state, fresh);
  }
  LegStep step_between(std::uint64_t from, std::uint64_t to, std::uint32_t state,
                       bool fresh) const {
    const int axis = grid_.first_axis(from ^ to);
    const int x = grid_.coordinate(from, axis);
    const int ahead = grid_.coordinate(to, axis) - x;
    const Ring ring = rings_[static_cast<unsigned>(axis)];
    if (ring.radix == 0)
      return {
          .port = port(axis, ahead > 0), .vc_class = class_any, .state = entered(state, axis, 0)};

    // Directions are as good as random, and a mispredicted branch costs more than all of this: so
    // bits are computed, not branched on.
    const std::uint32_t coin = (state >> ring.coin) & 1u;
    const int balance = 2 * (ahead + (ahead < 0 ? ring.radix : 0)) - ring.turn;
    const std::uint32_t up =
        static_cast<std::uint32_t>(balance < 0) | (static_cast<std::uint32_t>(balance == 0) & coin);
    const std::uint32_t entering = static_cast<std::uint32_t>(fresh) |
                                   static_cast<std::uint32_t>(((state >> axis_shift) & axis_mask) !=
                                                              static_cast<std::uint32_t>(axis));
    const std::uint32_t kept = (state >> half_shift) & 1u;
    const std::uint32_t half = kept ^ ((kept ^ upper(x, ahead, up, coin, ring)) & (0u - entering));
    return {.port = static_cast<std::uint16_t>(2 * static_cast<unsigned>(axis) + 1 - up),
            .vc_class = static_cast<std::uint8_t>(half),
            .tossed = balance == 0,
            .state = entered(state, axis, half)};
  }

  // Directions on shortest ways in one dimension: bit 0 up, bit 1 down; both when exactly half-way.
  unsigned directions(int axis, std::uint64_t from, std::uint64_t to) const {
    const int ahead = grid_.coordinate(to, axis) - grid_.coordinate(from, axis);
    const int radix = rings_[static_cast<unsigned>(axis)].radix;
    if (ahead == 0) return 0;
    if (radix == 0) return ahead > 0 ? 1u : 2u;
    const int balance = 2 * (ahead < 0 ? ahead + radix : ahead) - radix;
    return balance < 0 ? 1u : balance > 0 ? 2u : 3u;
  }
  bool coin(std::uint32_t state, int axis) const {
    return ((state >> rings_[static_cast<unsigned>(axis)].coin) & 1u) != 0;
  }

  int distance(RouterId here, RouterId target) const;
  int hops_max() const { return hops_max_; }
  static constexpr bool alike = false;
  bool one_way() const { return one_way_; }
  bool wraps() const { return (classes_used_ & 1u) != 0; }
  int vcs_needed() const { return wraps() ? 2 : 1; }
  LegMasks masks(int first, int count) const { return halves(first, count); }
  unsigned classes_used() const { return classes_used_; }
  const Grid& grid() const { return grid_; }
  // The part of the state that a step leaves as it is.
  static constexpr std::uint32_t kept_bits() { return (1u << axis_shift) - 1u; }

  static std::uint16_t port(int axis, bool up) {
    return static_cast<std::uint16_t>(up ? Lattice::up_port(axis) : Lattice::down_port(axis));
  }

 private:
  // State: a coin per wrapped dimension (at most 20, as 3^20 routers are the most there can be),
  // the dimension being crossed, the half taken in it.
  static constexpr int axis_shift = 20, half_shift = 25;
  static constexpr std::uint32_t axis_mask = 31;

  struct Ring {
    int radix = 0;  // 0: this dimension does not wrap.
    int coin = 0;   // Which bit of the state decides.
    int turn = 0;   // Twice the distance from which on it is shorter to go down.
  };

  static std::uint32_t entered(std::uint32_t state, int axis, std::uint32_t half) {
    return (state & kept_bits()) | (static_cast<std::uint32_t>(axis) << axis_shift) |
           (half << half_shift);
  }
  static std::uint32_t upper(int x, int ahead, std::uint32_t up, std::uint32_t coin, Ring ring) {
    const auto smaller = static_cast<std::uint32_t>(ahead < 0);
    if constexpr (!balanced) return smaller;
    if (up == smaller) return 1;
    // One coin does for direction and half: a way of exactly half the ring always wraps or crosses.
    const int middle = (ring.radix - 1) / 2;
    if ((x <= middle) != (x + ahead <= middle)) return 0;
    return coin;
  }

  Grid grid_;
  std::array<Ring, Grid::axes_max> rings_{};  // In the object: one load less on the way.
  int hops_max_ = 0;
  bool one_way_ = true;
  unsigned classes_used_ = 0;
};

using CubeLegs = CubeLegsOf<false>;
using BalancedCubeLegs = CubeLegsOf<true>;
extern template class CubeLegsOf<false>;
extern template class CubeLegsOf<true>;

}  // namespace weft::detail
