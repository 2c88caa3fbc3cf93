// SPDX-License-Identifier: Apache-2.0
// What a simulated run was like: numbers, tables, files. Nothing in them depends on how many
// workers computed it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weft/base/histogram.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/program/simulated_run/totals.hpp>
#include <weft/simulate/nodes/world.hpp>
#include <weft/simulate/setup/scene.hpp>

namespace weft {

struct LinkUse {
  std::uint64_t links = 0;  // That work.
  std::uint64_t packets = 0, bytes = 0, busiest_bytes = 0;
  double mean_rate = 0;   // Bytes per second and link, over the program's time.
  double efficiency = 0;  // Of what the links could carry.
  double busiest_efficiency = 0;
  std::string busiest;
};

// Of all ranks; none where connections cost nothing.
struct ConnectionUse {
  std::string mode;
  std::uint32_t shortcuts_most = 0;  // That a rank may hold.
  conn::Counts sum;                  // held_most, neighbours and passing_most: of one rank.
  double held_mean = 0;
};

struct RunSummary {
  std::string program, network, routing;
  std::uint32_t ranks = 0, nodes = 0;
  bool carried_data = false;
  bool complete = true;  // All ranks ended.
  std::string ending;    // "complete", "interrupted", "stopped at ...", "aborted", "deadlock"
  Time program_time;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t packets = 0, hops = 0;
  LinkUse links;
  ConnectionUse connections;
  Histogram latencies_ps;  // Of network messages, from the card's queue to memory.
  Duration waited_most, waited_least, waited_mean, spent_mean;
  RankId waited_most_rank;
  std::map<std::string, CallTotals> calls;
  std::map<std::string, WindowTotals> windows;
  std::vector<Note> notes;
};

RunSummary collect(const Scene& scene, const RunTotals& totals);

std::string to_table(const RunSummary& summary);
std::string to_json(const RunSummary& summary);
std::string ranks_csv(const Scene& scene, const RunTotals& totals);
std::string calls_csv(const RunSummary& summary);
std::string connections_csv(const RunTotals& totals);
std::string traffic_text(const RunTotals& totals);

}  // namespace weft
