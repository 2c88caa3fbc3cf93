// SPDX-License-Identifier: Apache-2.0
// Plain routers of 65 to 128 buffers: switches of many ports.
#include <weft/simulate/router/plain_kinds.hpp>

namespace weft::detail {

VisitFunction find_two_word_visit(const State& state) {
  return state.setup.timed ? two_word_visit<true>(is_even(state))
                           : two_word_visit<false>(is_even(state));
}

}  // namespace weft::detail
