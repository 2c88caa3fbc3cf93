// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/cube_legs.hpp"

#include <algorithm>
#include <cstdlib>

namespace weft::detail {

template <bool balanced>
int CubeLegsOf<balanced>::vcs_needed(const Topology& topology) {
  const Lattice* const cube = topology.shape->lattice();
  if (cube == nullptr || !Grid::fits(cube->radix)) return 0;
  return std::find(cube->wrap.begin(), cube->wrap.end(), true) == cube->wrap.end() ? 1 : 2;
}

template <bool balanced>
CubeLegsOf<balanced>::CubeLegsOf(const Topology& topology, bool half_goes_up)
    : grid_(topology.shape->lattice()->radix, topology.graph.router_count()) {
  const Lattice& cube = *topology.shape->lattice();
  int coins = 0;
  for (std::size_t d = 0; d < cube.radix.size(); ++d) {
    const int radix = cube.radix[d];
    if (!cube.wrap[d]) {
      hops_max_ += radix - 1;
      if (radix > 1) classes_used_ |= 1u << class_any;
      continue;
    }
    // One more settles a tie, and changes nothing else as twice a distance is even.
    const bool settled = half_goes_up && radix % 2 == 0;
    rings_[d] = {.radix = radix, .coin = coins++, .turn = settled ? radix + 1 : radix};
    hops_max_ += radix / 2;
    classes_used_ |= (1u << class_lower) | (1u << class_upper);
    if (balanced || (radix % 2 == 0 && !half_goes_up)) one_way_ = false;
  }
  WEFT_CHECK(coins <= axis_shift);
}

template <bool balanced>
int CubeLegsOf<balanced>::distance(RouterId here, RouterId target) const {
  const std::uint64_t from = grid_.word(here);
  const std::uint64_t to = grid_.word(target);
  int sum = 0;
  for (int d = 0; d < grid_.axes(); ++d) {
    const int apart = std::abs(grid_.coordinate(from, d) - grid_.coordinate(to, d));
    const int radix = rings_[static_cast<unsigned>(d)].radix;
    sum += radix == 0 ? apart : std::min(apart, radix - apart);
  }
  return sum;
}

template class CubeLegsOf<false>;
template class CubeLegsOf<true>;

}  // namespace weft::detail
