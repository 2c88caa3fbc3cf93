// SPDX-License-Identifier: Apache-2.0
// What the program writes, where a reader that went away or a full disk is an error and not
// silence.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>

namespace weft::app {

// All of it, at once; nothing stays in a buffer.
Status print(std::string_view text);

// Before a long run: what cannot be written is better known now. `seen`: files of other options.
Status check_output(const char* option, const std::string& path, std::set<std::string>& seen);

}  // namespace weft::app
