// SPDX-License-Identifier: Apache-2.0
// The same decisions as general_router.cpp for the plain case: one option per head, or a VC
// before an output, masks of one word or two, round robin with or without through traffic first.
// Most simulations are plain, and this is where they spend their time. The property tests hold both
// routers to the same oracle.
#pragma once

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// Can all routers of this process be plain?
bool fits_plain(const State& state);
// Prepares the state for plain routers. Returns the variant of their visit that fits: does all that
// happens in router r before reach.sure_ps, and goes on to reach.far_ps while no credit matters
// that may still be on its way.
VisitFunction use_plain(State& state);

// Part of the latter, for rings of one block and for others: see plain_kinds.hpp.
template <bool whole>
VisitFunction find_plain_visit(const State& state);
// For routers of more than 64 buffers, whose masks have two words.
VisitFunction find_two_word_visit(const State& state);
// For heads that take a VC before an output.
VisitFunction find_commit_visit(const State& state);

}  // namespace weft::detail
