// SPDX-License-Identifier: Apache-2.0
// `minimal` on dragonfly and HyperX; `valiant` and `ugal-l` on cubes, dragonfly and HyperX, and
// over shortest paths on any other graph and where a cable that those need is down.
#include <algorithm>

#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/dragonfly_legs.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/graph_legs.hpp>
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

// VCs of a leg of the topology's family; 0: there is none, or it does not reach every router.
int vcs_of_leg(const Topology& t) {
  if (DragonflyLegs::vcs_needed(t) > 0)
    return DragonflyLegs::reaches_all(t) ? DragonflyLegs::vcs_needed(t) : 0;
  if (HyperXLegs::vcs_needed(t) > 0)
    return HyperXLegs::reaches_all(t) ? HyperXLegs::vcs_needed(t) : 0;
  return t.graph.all_up() ? CubeLegs::vcs_needed(t) : 0;
}

MadePolicy make_two_legs(const Topology& t, int vcs, Detour detour) {
  const std::uint32_t routers = t.graph.router_count();
  if (vcs_of_leg(t) > 0)
    return with_legs(t, [&]<typename Legs>(Legs legs) {
      return MadePolicy(std::make_unique<TwoLegs<Legs>>(std::move(legs), routers, vcs, detour));
    });
  const std::string_view name = detour == Detour::always ? "valiant" : "ugal-l";
  if (const Status fits = LayeredPaths::fits(t, name); !fits) return fits.error();
  GraphLegs legs(t, std::min(vcs / 2, find_layers(t).all));
  return MadePolicy(std::make_unique<TwoLegs<GraphLegs>>(std::move(legs), routers, vcs, detour));
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

bool minimal_reaches_all(const Topology& t) {
  return vcs_minimal(t) > 0 && vcs_of_leg(t) > 0;
}

bool legs_reach_all(const Topology& t) {
  return vcs_of_leg(t) > 0;
}
int vcs_two_legs(const Topology& t) {
  if (const int leg = vcs_of_leg(t); leg > 0) return 2 * leg;
  const int layers = find_layers(t).least;
  return 2 * layers <= max_vcs ? 2 * layers : 0;
}
int vcs_usual_two_legs(const Topology& t) {
  const int leg = vcs_of_leg(t);
  return 2 * (leg > 0 ? leg : find_layers(t).usual());
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
    .reaches_all = &minimal_reaches_all,
};
extern const PolicyEntry valiant_policy{
    .name = "valiant",
    .help = "to a random router, then to the destination",
    .vcs_needed = &vcs_two_legs,
    .make = &make_valiant,
    .any_graph = true,
    .reaches_all = &legs_reach_all,
    .vcs_usual = &vcs_usual_two_legs,
};
extern const PolicyEntry ugal_l_policy{
    .name = "ugal-l",
    .help = "straight or by a random router, by local queue length times hops",
    .vcs_needed = &vcs_two_legs,
    .make = &make_ugal_l,
    .any_graph = true,
    .reaches_all = &legs_reach_all,
    .vcs_usual = &vcs_usual_two_legs,
};

}  // namespace weft::detail
