// SPDX-License-Identifier: Apache-2.0
// Standard output, where a reader that went away or a full disk is an error and not silence.
#pragma once

#include <string_view>

#include <weft/base/result.hpp>

namespace weft::app {

// All of it, at once; nothing stays in a buffer.
Status print(std::string_view text);

}  // namespace weft::app
