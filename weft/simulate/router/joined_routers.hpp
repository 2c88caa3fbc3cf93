// SPDX-License-Identifier: Apache-2.0
// Routers that have cards of the same nodes. A node that hears from a card at one router may send
// by a card at another at the same moment, so such routers are visited together: one event after
// the other, in the order of their times. They belong to one worker (weft/network/part).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/simulate/router/plain_router.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

struct JoinedRouters {
  VisitFunction visit_one = nullptr;
  Table<std::uint32_t, RouterIndex> set_of;    // By router.
  std::vector<std::vector<RouterIndex>> sets;  // Routers in rising order.
};

// Null if all cards of every node are at one router. `visit_one` visits a router alone.
std::unique_ptr<JoinedRouters> find_joined_routers(const State& state, VisitFunction visit_one);

// Does all that happens in router r, and in those that it is joined to, before reach.sure_ps.
// REQUIRES: state.joined is set.
void visit_joined(State& state, int worker, RouterIndex r, Reach reach);

}  // namespace weft::detail
