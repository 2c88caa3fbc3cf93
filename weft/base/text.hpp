// SPDX-License-Identifier: Apache-2.0
// Text utilities that do not depend on the locale.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

// Removes blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

// The fields between separators: always one more than there are separators; fields may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

// The whole text must be a decimal number, without blanks or a leading '+'.
Result<std::int64_t> parse_int(std::string_view text);
Result<double> parse_number(std::string_view text);  // Finite.

// The end of an error message about an unknown word: "; did you mean 'x'?" if a known word is
// close, otherwise "; known: a, b, c" in the given order; empty if no words are known.
std::string suggest(std::string_view word, std::span<const std::string_view> known);

}  // namespace weft
