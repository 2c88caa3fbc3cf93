// SPDX-License-Identifier: Apache-2.0
// What ranks and network of a run came to: of one process, and, put together, of all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weft/base/histogram.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/parallel/processes/peers.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/simulate/nodes/world.hpp>
#include <weft/simulate/setup/scene.hpp>

namespace weft {

struct RankEntry {
  RankId rank;
  bool done = false;
  int code = 0;
  Time reached;  // Its clock; when it ended, if it did.
  RankCounts counts;
  conn::Counts connections;
};

struct LinkEntry {
  LinkId link;
  LinkCount count;
};

struct RunTotals {
  std::vector<RankEntry> ranks;  // By rank.
  std::vector<LinkEntry> links;  // By link.
  NetworkCounts network;
  Histogram latencies_ps;
  std::map<std::string, CallTotals> calls;
  std::map<std::string, WindowTotals> windows;
  std::vector<Note> notes;                  // By time, then rank.
  std::vector<ProgramRanks::Abort> aborts;  // Likewise.
  std::vector<PairCount> pairs;             // By sender, then receiver.

  std::uint32_t ranks_open() const;
  // Of the lowest rank that did not end with 0; 0 if all did.
  int exit_code() const;
};

// Of this process, between runs.
RunTotals take_totals(const Scene& scene, World& world, const ProgramRanks& program_ranks);

// A call that all processes make: process 0 gets what all have, the others what they gave.
RunTotals put_together(Peers* peers, RunTotals mine);

}  // namespace weft
