// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace weft {

std::string_view version();  // "1.2.3", from the build file.

}  // namespace weft
