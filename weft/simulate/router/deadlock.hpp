// SPDX-License-Identifier: Apache-2.0
// Which packets can never move again?
#pragma once

#include <string>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// One circle of buffers that wait for each other, in words; empty if there is none. A call that all
// processes make; peers may be null.
std::string find_deadlock(const State& state, ProcessGroup* peers);

}  // namespace weft::detail
