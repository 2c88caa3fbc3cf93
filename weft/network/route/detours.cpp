// SPDX-License-Identifier: Apache-2.0
// `minimal` on dragonfly and HyperX; `valiant` and `ugal-l` on cubes, dragonfly and HyperX.
#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/dragonfly_legs.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/hyperx_legs.hpp>
#include <weft/network/route/one_leg.hpp>
#include <weft/network/route/two_legs.hpp>

namespace weft::detail {
namespace {

// Gives the leg of the topology's family to `use`. REQUIRES: there is one.
template <typename Use>
MadePolicy with_legs(const Topology& t, Use use) {
  if (CubeLegs::vcs_needed(t) > 0) return use(CubeLegs(t));
  if (DragonflyLegs::vcs_needed(t) > 0) return use(DragonflyLegs(t));
  return use(HyperXLegs(t));
}

MadePolicy make_two_legs(const Topology& t, int vcs, Detour detour) {
  return with_legs(t, [&]<typename Legs>(Legs legs) {
    return MadePolicy(
        std::make_unique<TwoLegs<Legs>>(std::move(legs), t.graph.router_count(), vcs, detour));
  });
}

// On cubes this would be `dor` under another name.
int vcs_minimal(const Topology& t) {
  return DragonflyLegs::vcs_needed(t) + HyperXLegs::vcs_needed(t);
}
MadePolicy make_minimal(const Topology& t, int vcs) {
  return with_legs(t, [&]<typename Legs>(Legs legs) {
    return MadePolicy(std::make_unique<OneLeg<Legs>>(std::move(legs), vcs));
  });
}

int vcs_two_legs(const Topology& t) {
  return 2 * (CubeLegs::vcs_needed(t) + DragonflyLegs::vcs_needed(t) + HyperXLegs::vcs_needed(t));
}
MadePolicy make_valiant(const Topology& t, int vcs) {
  return make_two_legs(t, vcs, Detour::always);
}
MadePolicy make_ugal_l(const Topology& t, int vcs) {
  return make_two_legs(t, vcs, Detour::by_queue);
}

}  // namespace

extern const PolicyEntry minimal_policy{
    .name = "minimal",
    .help = "shortest way by local, global, local cables or dimension by dimension",
    .vcs_needed = &vcs_minimal,
    .make = &make_minimal,
    .usual = true,
};
extern const PolicyEntry valiant_policy{
    .name = "valiant",
    .help = "to a random router, then to the destination",
    .vcs_needed = &vcs_two_legs,
    .make = &make_valiant,
};
extern const PolicyEntry ugal_l_policy{
    .name = "ugal-l",
    .help = "straight or by a random router, by local queue length times hops",
    .vcs_needed = &vcs_two_legs,
    .make = &make_ugal_l,
};

}  // namespace weft::detail
