// SPDX-License-Identifier: Apache-2.0
// The router that can do everything: several options per head, output buffers, any number of ports,
// policies that look at the outputs, VC allocation ahead of the output, arbitration by age, news.
// plain_router.hpp is the fast one for the common case; both make the same decisions.
#pragma once

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// The variant of its visit that fits: does all that happens in router r before reach.sure_ps.
VisitFunction use_general(const State& state);

}  // namespace weft::detail
