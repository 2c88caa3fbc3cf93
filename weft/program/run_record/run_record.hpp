// SPDX-License-Identifier: Apache-2.0
// The record of a real run: the files that `weft sim --output DIR --matrix` writes, with measured
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/program/run_record/call_timeline.hpp>
#include <weft/program/run_record/tables.hpp>

namespace weft {

// The use of one path out of a rank: shared memory or a rail.
struct RailUse {
  std::string name;
  std::uint64_t bytes = 0;      // Handed over to it.
  std::uint64_t delivered = 0;  // Acknowledged bytes of large messages,
  Duration busy;                // and the time during which any of them was in flight.
  std::uint32_t downs = 0;      // How often it failed.
};

// The measurements of one rank.
struct RankNumbers {
  RankRow row;
  std::string host;
  CallTable calls;
  std::vector<PairCount> pairs;  // By receiver.
  std::vector<RailUse> rails;
  // Open at the end; for managed connections the maximum at any time.
  std::uint32_t connections = 0;
  conn::Counts managed;       // Zeros if connections are not managed.
  AlgorithmTable algorithms;  // Those of which it was the first rank.
  CallTimelinePart timeline;
};

std::vector<std::byte> pack(const RankNumbers& numbers);
// Decodes what pack() made in another process of the job.
RankNumbers unpack_numbers(std::span<const std::byte> bytes);

struct RunRecord {
  std::string program;
  std::uint32_t ranks = 0;  // Size of the job.
  std::string ending = "complete";
  std::vector<RankRow> rows;                   // Ranks that reported, in order.
  std::map<std::uint32_t, std::string> hosts;  // By node.
  CallTable calls;
  std::vector<PairCount> pairs;                                    // By sender, then receiver.
  std::map<std::pair<std::uint32_t, std::string>, RailUse> rails;  // By node and name.
  std::uint64_t connections = 0;
  std::uint32_t connections_max = 0;  // Maximum of any rank.
  conn::Counts managed;
  AlgorithmTable algorithms;
  std::vector<CallTimelinePart> timelines;  // By rank.

  // Call in order of ranks.
  void add(RankNumbers numbers);
};

std::string to_json(const RunRecord& record);
std::string to_table(const RunRecord& record);

// Writes summary.json, ranks.csv, calls.csv, traffic.txt, timeline.raw, and the table as
// summary.txt.
Status write_record(const std::string& folder, const RunRecord& record);

}  // namespace weft
