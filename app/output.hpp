// SPDX-License-Identifier: Apache-2.0
// Output to standard output and files, where a closed pipe or a full disk is an error and never
// ignored; and words to the user.
#pragma once

#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <weft/base/result.hpp>

namespace weft::app {

// Writes the whole text at once, without a buffer.
Status print(std::string_view text);

// A word to the user on standard error. Whether anybody reads it stops nothing.
template <class... Values>
void tell(fmt::format_string<Values...> form, Values&&... values) {
  std::fputs(fmt::format(form, std::forward<Values>(values)...).c_str(), stderr);
}

// Keeps the numbers of standard input, output and error from files, where whoever started weft
// has closed them: else a warning would be written into a result. Using them fails as before.
void keep_closed_streams();

// Checks before a long run that a file can be written. `seen`: the files of other options.
Status check_output(const char* option, const std::string& path, std::set<std::string>& seen);

}  // namespace weft::app
