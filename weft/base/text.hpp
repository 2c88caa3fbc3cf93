// SPDX-License-Identifier: Apache-2.0
// Small text work, the same under every locale.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

// Without blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

// The fields between separators: always one more than there are separators; fields may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

// The whole text must be a decimal number; no blanks, no leading '+'.
Result<std::int64_t> parse_int(std::string_view text);
Result<double> parse_number(std::string_view text);  // Finite.

// The end of a message about an unknown word: "; did you mean 'x'?" when a known word is near,
// otherwise "; known: a, b, c" in the given order; nothing when nothing is known.
std::string suggest(std::string_view word, std::span<const std::string_view> known);

}  // namespace weft
