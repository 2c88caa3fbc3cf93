// SPDX-License-Identifier: Apache-2.0
// Lists of small numbers in the system's format for processor sets: "0-7,16-23".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::locality {

// Consecutive numbers become a range; an empty list is "-".
std::string list_to_text(std::span<const int> numbers);
// Numbers up to 65,535, and at most that many of them.
Result<std::vector<int>> parse_list(std::string_view text);

}  // namespace weft::locality
