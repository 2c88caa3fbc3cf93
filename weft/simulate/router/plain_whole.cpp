// SPDX-License-Identifier: Apache-2.0
// Plain routers whose rings are of one block: most networks.
#include <weft/simulate/router/plain_kinds.hpp>

namespace weft::detail {

template VisitFunction find_plain_visit<true>(const State& state);

}  // namespace weft::detail
