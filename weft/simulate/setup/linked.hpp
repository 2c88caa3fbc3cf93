// SPDX-License-Identifier: Apache-2.0
// Whether a file is a program that can be simulated.
#pragma once

#include <string>

#include <weft/base/result.hpp>

namespace weft {

// The error says what it is instead, and the remedy.
Status check_linked(const std::string& path);

}  // namespace weft
