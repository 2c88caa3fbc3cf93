// SPDX-License-Identifier: Apache-2.0
// The version of weft.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <string_view>

namespace weft {

std::string_view version();  // "1.2.3", from the build file.

}  // namespace weft
