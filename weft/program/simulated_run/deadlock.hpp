// SPDX-License-Identifier: Apache-2.0
// Who waits for whom when no rank can go on.
#pragma once

#include <string>
#include <vector>

#include <weft/parallel/processes/peers.hpp>
#include <weft/program/simulated_run/totals.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

// Every rank of this process that has not ended waits for ever, or has done nothing but ask for
// half of idle_most.
inline constexpr Duration idle_most = Duration::ms(3'600'000);
bool nobody_moves(const World& world, std::uint32_t ranks);

struct WaitingRank {
  RankId rank;
  bool is_known = false;  // It told what it waits for.
  bool asks = false;      // Again and again.
  Waiting waiting;
};

// Ranks that have not ended, by rank. A call that all processes make: process 0 gets all.
std::vector<WaitingRank> waiting_ranks(Peers* peers, const World& world, std::uint32_t ranks);

// "deadlock at 12 us: 5 of 8 ranks wait." and a line per rank: those in a circle first, then
// others. `network`: what Network::find_deadlock() says.
std::string describe_deadlock(const std::vector<WaitingRank>& open, const RunTotals& totals,
                              const std::string& network);

}  // namespace weft
