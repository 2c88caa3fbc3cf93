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
  Duration longest;  // Inside, of the rank that was inside for longest; the lowest of equals.
  RankId longest_rank;

  void add(const CallTotals& more);
};

struct RankRow {
  RankId rank;
  std::uint32_t node = 0;
  std::int64_t end_ps = -1;  // -1: the rank did not end.
  RankCounts counts;
};
std::string ranks_csv(const std::vector<RankRow>& rows);
using CallTable = std::map<std::string, CallTotals>;
// Adds the calls of one rank, whose totals name no rank yet.
void add_rank(CallTable& calls, RankId rank, const CallTable& of_rank);
std::string calls_csv(const CallTable& calls);
// Calls of all ranks, those with the largest total time first.
std::string calls_table(const CallTable& calls, std::uint32_t ranks);
// Names the call in which one rank spent ten times the mean of all ranks and a quarter of the run:
// that rank probably serves the others, who wait for it in other calls. Empty if there is none.
std::string uneven_call(const CallTable& calls, std::uint32_t ranks, Duration program_time);
// Calls by "allreduce=recursive-doubling" (see coll::Usage).
using AlgorithmTable = std::map<std::string, std::uint64_t>;
// "allreduce: recursive-doubling (4 calls); alltoall: linear (1)"
std::string algorithms_text(const AlgorithmTable& algorithms);
std::string traffic_text(std::size_t ranks, const std::vector<PairCount>& pairs);

}  // namespace weft
