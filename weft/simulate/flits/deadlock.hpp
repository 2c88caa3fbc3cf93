// SPDX-License-Identifier: Apache-2.0
// Buffers of the flit model that wait for each other in a circle.
#pragma once

#include <string>

#include <weft/simulate/flits/worker.hpp>

namespace weft::flits {

// In words; empty if there are none.
std::string find_deadlock(const Workers& workers);

}  // namespace weft::flits
