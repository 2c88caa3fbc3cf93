// SPDX-License-Identifier: Apache-2.0
// Plain routers whose rings are cut into blocks: large networks with large buffers.
#include <weft/simulate/router/plain_kinds.hpp>

namespace weft::detail {

template VisitFunction find_plain_visit<false>(const State& state);

}  // namespace weft::detail
