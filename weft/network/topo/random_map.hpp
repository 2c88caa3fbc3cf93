// SPDX-License-Identifier: Apache-2.0
// A map that nobody made: ranks on places in random order, as a batch system leaves them. The words
// "random" and "random:SEED" stand for it where a map file could stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

// The seed, if the word means such a map.
Result<std::optional<std::uint64_t>> random_map_seed(std::string_view word);

// By rank: its place among so many.
std::vector<std::uint32_t> random_places(std::uint32_t count, std::uint64_t seed);

}  // namespace weft
