// SPDX-License-Identifier: Apache-2.0
// Output to standard output and files; a closed pipe or a full disk is an error, never ignored.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>

namespace weft::app {

// Writes the whole text at once, without a buffer.
Status print(std::string_view text);

// Checks before a long run that a file can be written. `seen`: the files of other options.
Status check_output(const char* option, const std::string& path, std::set<std::string>& seen);

}  // namespace weft::app
