// SPDX-License-Identifier: Apache-2.0
// What libraries of two ranks say to each other outside of all messages: it needs no receive and no
// credit, and arrives in whatever call the other rank is. Meant for rare events, as the loss of
// ranks.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/message/port/rank.hpp>

namespace weft::mp {

struct Word {
  RankId peer;  // Where it goes, or where it came from.
  std::uint32_t context = 0;
  std::int32_t kind = 0;
  std::uint64_t number = 0;
  std::vector<std::uint32_t> content;
};

}  // namespace weft::mp
