// SPDX-License-Identifier: Apache-2.0
// Totals of ranks and network over a run: of one process and, merged, of all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weft/base/histogram.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/simulate/nodes/world.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {

struct RankEntry {
  RankId rank;
  bool done = false;
  int code = 0;
  Time reached;  // Its clock; the time of its end if it has ended.
  RankCounts counts;
  conn::Counts connections;
};

struct LinkEntry {
  LinkId link;
  LinkCount count;
};

struct NodeLinkEntry {
  NodeId node;  // Of the network: a card.
  NodeLinkCount count;
};

struct RunTotals {
  std::vector<RankEntry> ranks;           // By rank.
  std::vector<LinkEntry> links;           // By link.
  std::vector<NodeLinkEntry> node_links;  // By node.
  NetworkCounts network;
  Histogram latencies_ps;
  std::map<std::string, CallTotals> calls;
  ProtocolCounts protocols;
  AlgorithmTable algorithms;
  std::map<std::string, WindowTotals> windows;
  std::vector<Note> notes;                  // By time, then rank.
  std::vector<ProgramRanks::Abort> aborts;  // By time, then rank.
  std::vector<PairCount> pairs;             // By sender, then receiver.

  std::uint32_t ranks_open() const;
  // Exit code of the lowest rank that did not end with 0; 0 if all did.
  int exit_code() const;
};

// Totals of this process. Call between runs.
RunTotals take_totals(const SimulationSetup& setup, World& world,
                      const ProgramRanks& program_ranks);

// Collective: process 0 gets the totals of all processes, the others their own.
RunTotals merge_totals(ProcessGroup* peers, RunTotals mine);

}  // namespace weft
