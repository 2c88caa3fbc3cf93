// SPDX-License-Identifier: Apache-2.0
// Deadlock detection: which rank waits for which when no rank can proceed.
#pragma once

#include <string>
#include <vector>

#include <weft/parallel/processes/process_group.hpp>
#include <weft/program/simulated_run/totals.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

inline constexpr Duration idle_max = Duration::ms(3'600'000);
// True when every rank of this process that has not ended waits forever, or has done nothing but
// poll for half of idle_max.
bool ranks_stuck(const World& world, std::uint32_t ranks);

struct WaitingRank {
  RankId rank;
  bool is_known = false;  // Whether the call says what it waits for.
  bool asks = false;      // It polls repeatedly.
  Waiting waiting;
  std::vector<Waiting> threads;  // Where it has several: each by itself, in place of `waiting`.
};

// Ranks that have not ended, by rank. Collective: process 0 gets all of them.
std::vector<WaitingRank> waiting_ranks(ProcessGroup* peers, const World& world,
                                       std::uint32_t ranks);

// "deadlock at 12 us: 5 of 8 ranks wait." and a line per rank, those in a cycle first. `network` is
// the result of Network::find_deadlock().
std::string describe_deadlock(const std::vector<WaitingRank>& open, const RunTotals& totals,
                              const std::string& network);

}  // namespace weft
