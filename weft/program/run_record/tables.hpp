// SPDX-License-Identifier: Apache-2.0
// The tables that simulated and real runs write in the same format: ranks, calls, traffic between
// pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/port/counts.hpp>

namespace weft {

struct CallTotals {
  std::uint64_t count = 0, bytes = 0;
  Duration inside;
};

struct RankRow {
  RankId rank;
  std::uint32_t node = 0;
  std::int64_t end_ps = -1;  // -1: the rank did not end.
  RankCounts counts;
};
std::string ranks_csv(const std::vector<RankRow>& rows);
using CallTable = std::map<std::string, CallTotals>;
std::string calls_csv(const CallTable& calls);
// Calls of all ranks, those with the largest total time first.
std::string calls_table(const CallTable& calls, std::uint32_t ranks);
std::string traffic_text(std::size_t ranks, const std::vector<PairCount>& pairs);

}  // namespace weft
