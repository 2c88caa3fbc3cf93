// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/joined_routers.hpp"

#include <weft/network/topo/planes.hpp>

namespace weft::detail {

std::unique_ptr<JoinedRouters> find_joined_routers(const State& state, VisitFunction visit_one) {
  const Topology& topology = state.setup.topology;
  const RouterSets known = routers_of_nodes(topology);
  if (known.count == topology.graph.router_count()) return nullptr;
  auto made = std::make_unique<JoinedRouters>();
  made->visit_one = visit_one;
  made->set_of.resize(state.placement.ids.size());
  made->sets.resize(known.count);
  for (RouterIndex r; r.value < state.placement.ids.size(); ++r) {
    const std::uint32_t set = known.of_router[state.placement.ids[r].index];
    made->set_of[r] = set;
    made->sets[set].push_back(r);
    WEFT_CHECK(state.placement.worker_of(r) == state.placement.worker_of(made->sets[set].front()));
  }
  return made;
}

void visit_joined(State& state, int worker, RouterIndex r, Reach reach) {
  const JoinedRouters& joined = *state.joined;
  const std::vector<RouterIndex>& set = joined.sets[joined.set_of[r]];
  if (set.size() == 1) return joined.visit_one(state, worker, r, reach);
  for (;;) {
    RouterIndex next = set.front();
    for (const RouterIndex one : set)
      if (state.routers[one].wake_at < state.routers[next].wake_at) next = one;
    const std::int64_t now = state.routers[next].wake_at;
    if (now >= reach.sure_ps) break;
    // What it does at this moment may bring an event of the others forward, to this moment at most.
    joined.visit_one(state, worker, next, {now + 1, now + 1});
  }
  // A run that ends within the window leaves the rest of it for the next one.
  if (state.routers[r].wake_at < never_at)
    state.agenda.wake(worker, r.value, state.routers[r].wake_at);
}

}  // namespace weft::detail
