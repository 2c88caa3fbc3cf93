// SPDX-License-Identifier: Apache-2.0
// The same decisions as general_router.cpp for the plain case: one option per head, masks of one
// word, no news of lines, round robin with or without through traffic first. Most simulations are
// plain, and this is where they spend their time. The property tests hold both routers to the same
// oracle.
#pragma once

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

using VisitFunction = void (*)(State& state, int worker, RouterIndex r, Reach reach);

// Can all routers of this process be plain?
bool fits_plain(const State& state);
// Prepares the state for plain routers. Returns the variant of their visit that fits: does all that
// happens in router r before reach.sure_ps, and goes on to reach.far_ps while no credit matters
// that may still be on its way.
VisitFunction use_plain(State& state);

}  // namespace weft::detail
