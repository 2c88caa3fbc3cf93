// SPDX-License-Identifier: Apache-2.0
// Small numbers as the system writes sets of processors: "0-7,16-23".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::locality {

// Neighbours in the list that follow each other become a range; "-" for an empty list.
std::string list_to_text(std::span<const int> numbers);
// Numbers up to 65,535, at most so many of them.
Result<std::vector<int>> parse_list(std::string_view text);

}  // namespace weft::locality
