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
#include <weft/host/world.hpp>
#include <weft/scene/scene.hpp>
#include <weft/stage/cast.hpp>
#include <weft/stage/ledger.hpp>

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

struct Findings {
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

Findings collect(const Scene& scene, const Ledger& ledger);

std::string to_table(const Findings& findings);
std::string to_json(const Findings& findings);
std::string ranks_csv(const Scene& scene, const Ledger& ledger);
std::string calls_csv(const Findings& findings);
std::string connections_csv(const Ledger& ledger);
std::string traffic_text(const Ledger& ledger);

// The same tables for real runs (run_record.hpp).
struct RankRow {
  RankId rank;
  std::uint32_t node = 0;
  std::int64_t end_ps = -1;  // -1: it did not end.
  RankCounts counts;
};
std::string ranks_csv(const std::vector<RankRow>& rows);
using CallTable = std::map<std::string, CallTotals>;
std::string calls_csv(const CallTable& calls);
// Of `ranks` ranks; those that took most time first.
std::string calls_table(const CallTable& calls, std::uint32_t ranks);
std::string traffic_text(std::size_t ranks, const std::vector<PairCount>& pairs);

}  // namespace weft
