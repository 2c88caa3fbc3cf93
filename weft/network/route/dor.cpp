// SPDX-License-Identifier: Apache-2.0
// `dor` and `dor-balanced`: dimension order on cubes.
#include <weft/network/route/dimension_order.hpp>
#include <weft/network/route/families.hpp>

namespace weft::detail {

int vcs_dor(const Topology& t) {
  return CubeLegs::vcs_needed(t);
}
MadePolicy make_dor(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<DimensionOrder>(CubeLegs(t), vcs));
}

int vcs_dor_with(const Topology& t, const ChosenWords&) {
  return vcs_dor(t);
}
MadePolicy make_dor_with(const Topology& t, int vcs, const ChosenWords& words) {
  return MadePolicy(std::make_unique<DimensionOrder>(CubeLegs(t, words.front() == "up"), vcs));
}

int vcs_dor_balanced(const Topology& t) {
  const int vcs = BalancedCubeLegs::vcs_needed(t);
  return vcs >= 2 ? vcs : 0;  // Without a wrap there is nothing to balance.
}
MadePolicy make_dor_balanced(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<OneLeg<BalancedCubeLegs>>(BalancedCubeLegs(t), vcs));
}

}  // namespace weft::detail
