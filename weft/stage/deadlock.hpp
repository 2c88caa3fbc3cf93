// SPDX-License-Identifier: Apache-2.0
// Who waits for whom when no rank can go on.
#pragma once

#include <string>

#include <weft/host/world.hpp>

namespace weft {

// "deadlock at 12 us: 5 of 8 ranks wait." and a line per rank: those in a circle first, then
// others.
// Every rank that has not ended waits for ever, or has done nothing but ask for half of idle_most.
inline constexpr Duration idle_most = Duration::ms(3'600'000);
bool nobody_moves(const World& world, std::uint32_t ranks);

std::string describe_deadlock(World& world, std::uint32_t ranks);

}  // namespace weft
