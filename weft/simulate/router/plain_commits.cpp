// SPDX-License-Identifier: Apache-2.0
// Plain routers whose heads take a VC before an output.
#include <weft/simulate/router/plain_kinds.hpp>

namespace weft::detail {

VisitFunction find_commit_visit(const State& state) {
  // A VC is free again as soon as its packet has been granted.
  const bool even = state.byte_ps != 0 && state.setup.machine.lookahead;
  if (state.words == 2) return commit_visit<2, true>(even);
  return is_wide(state) ? commit_visit<1, true>(even) : commit_visit<1, false>(even);
}

}  // namespace weft::detail
