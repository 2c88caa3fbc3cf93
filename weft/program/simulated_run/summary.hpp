// SPDX-License-Identifier: Apache-2.0
// The results of a simulated run: numbers, tables, files. None of them depends on the number of
// workers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/histogram.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/program/simulated_run/totals.hpp>
#include <weft/simulate/nodes/world.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {

struct LinkUse {
  std::uint64_t links = 0;  // Working links.
  std::uint64_t packets = 0, bytes = 0, busiest_bytes = 0;
  double mean_rate = 0;   // Bytes per second and link, over the program's run time.
  double efficiency = 0;  // Share of the links' capacity.
  double busiest_efficiency = 0;
  std::string busiest;
};

// The links between nodes and routers in one direction.
struct NodeLinkUse {
  std::uint64_t packets = 0, bytes = 0, busiest_bytes = 0;
  double mean_rate = 0;
  double efficiency = 0;
  double busiest_efficiency = 0;
  std::string busiest;  // "(0,1) to n4"; empty if nothing passed.
};

// How long packets waited for links of one kind, all packets together.
struct PacketWaiting {
  std::string kind;            // A class of links between routers, "injection" or "ejection".
  Duration queue, turn, room;  // See LinkCount.
  std::string most;            // The link with the longest sum; empty if no packet waited.
  Duration most_time;

  Duration sum() const { return queue + turn + room; }
  void add(const LinkCount& count, const std::function<std::string()>& name);
};

// Totals over all ranks; empty if connections are not modelled.
struct ConnectionUse {
  std::string mode;
  std::uint32_t shortcuts_max = 0;  // Limit per rank.
  // held_most, neighbours and passing_most are maxima over ranks.
  conn::Counts sum;
  double held_mean = 0;
};

struct RunSummary {
  std::string program, network, profile, routing, model;
  // Of the model of flows: the part of the bytes that was held back where packets would
  // hold each other up.
  std::optional<double> uncertain_share;
  std::vector<std::string> warnings;     // What of the machine holds what back.
  std::vector<std::string> cables_down;  // "L1.11-L2.0".
  std::uint32_t ranks = 0, nodes = 0;
  bool carried_data = false;
  bool complete = true;  // All ranks ended.
  std::string ending;    // "complete", "interrupted", "stopped at ...", "aborted", "deadlock"
  Time program_time;
  std::uint64_t messages = 0, bytes = 0;
  ProtocolCounts protocols;
  Bytes eager_limit;
  std::string files;  // What their bytes cost; empty: the program used none.
  std::uint64_t packets = 0, hops = 0;
  LinkUse links;
  std::uint64_t node_links = 0;  // In each direction.
  NodeLinkUse injected, ejected;
  std::vector<PacketWaiting> packet_waiting;
  ConnectionUse connections;
  Histogram latencies_ps;  // Network messages, from the NIC's queue to memory.
  Duration waited_max, waited_min, waited_mean, spent_mean;
  RankId waited_max_rank;
  Duration in_mpi_mean, in_mpi_max;  // Of processors: see RankCounts.
  RankId in_mpi_max_rank;
  std::map<std::string, CallTotals> calls;
  AlgorithmTable algorithms;
  std::map<std::string, WindowTotals> windows;
  std::vector<Note> notes;
};

RunSummary collect(const SimulationSetup& setup, const RunTotals& totals);

std::string to_table(const RunSummary& summary);
std::string to_json(const RunSummary& summary);
std::string ranks_csv(const SimulationSetup& setup, const RunTotals& totals);
std::string node_links_csv(const SimulationSetup& setup, const RunTotals& totals);
std::string calls_csv(const RunSummary& summary);
std::string connections_csv(const RunTotals& totals);
std::string traffic_text(const RunTotals& totals);

}  // namespace weft
