// SPDX-License-Identifier: Apache-2.0
// `dor` and `dor-balanced`: dimension order on cubes.
#include <array>

#include <weft/network/route/dimension_order.hpp>
#include <weft/network/route/families.hpp>

namespace weft::detail {
namespace {

constexpr std::array dor_words = {
    PolicyWords{"coin|up", "exactly half-way round a ring: by the packet's coin, or always up"}};

int vcs_dor(const Topology& t) {
  return CubeLegs::vcs_needed(t);
}
MadePolicy make_dor(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<DimensionOrder>(CubeLegs(t), vcs));
}

TieRule ties_of_dor(const ChosenWords& words) {
  return !words.empty() && words.front() == "up" ? TieRule::up : TieRule::coin;
}

int vcs_dor_with(const Topology& t, const ChosenWords&) {
  return vcs_dor(t);
}
MadePolicy make_dor_with(const Topology& t, int vcs, const ChosenWords& words) {
  const bool half_goes_up = ties_of_dor(words) == TieRule::up;
  return MadePolicy(std::make_unique<DimensionOrder>(CubeLegs(t, half_goes_up), vcs));
}
int vcs_dor_balanced(const Topology& t) {
  const int vcs = BalancedCubeLegs::vcs_needed(t);
  return vcs >= 2 ? vcs : 0;  // Without a wrap there is nothing to balance.
}
MadePolicy make_dor_balanced(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<OneLeg<BalancedCubeLegs>>(BalancedCubeLegs(t), vcs));
}

}  // namespace

extern const PolicyEntry dor_policy{
    .name = "dor",
    .help = "dimension order, the shorter way round a ring",
    .vcs_needed = &vcs_dor,
    .make = &make_dor,
    .groups = dor_words,
    .vcs_needed_with = &vcs_dor_with,
    .make_with = &make_dor_with,
    .dimension_order = &ties_of_dor,
    .usual = true,
    .one_path_words = "up",
};
extern const PolicyEntry dor_balanced_policy{
    .name = "dor-balanced",
    .help = "dimension order on a torus, VC halves evenly loaded",
    .vcs_needed = &vcs_dor_balanced,
    .make = &make_dor_balanced,
    .dimension_order = &ties_of_dor,
};

}  // namespace weft::detail
