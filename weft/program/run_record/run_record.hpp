// SPDX-License-Identifier: Apache-2.0
// What a real run was like: the files that `weft sim --out DIR --matrix` writes, with measured
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

// One way out of a rank: memory that it shares with others, or a rail.
struct RailUse {
  std::string name;
  std::uint64_t bytes = 0;      // Handed over to it.
  std::uint64_t delivered = 0;  // Of large messages, and acknowledged,
  Duration busy;                // in the time when some of them were under way.
  std::uint32_t downs = 0;      // How often it failed.
};

// What one rank knows of itself.
struct RankNumbers {
  RankRow row;
  std::string host;
  CallTable calls;
  std::vector<PairCount> pairs;  // By receiver.
  std::vector<RailUse> rails;
  std::uint32_t connections = 0;  // Open at the end; of managed ones the most at one time.
  conn::Counts managed;           // Zeros where they are not.
  CallTimelinePart timeline;
};

std::vector<std::byte> pack(const RankNumbers& numbers);
// As pack() made them, in another process of the job.
RankNumbers unpack_numbers(std::span<const std::byte> bytes);

struct RunRecord {
  std::string program;
  std::uint32_t ranks = 0;  // Of the job.
  std::string ending = "complete";
  std::vector<RankRow> rows;                   // Of ranks that were heard, by rank.
  std::map<std::uint32_t, std::string> hosts;  // By node.
  CallTable calls;
  std::vector<PairCount> pairs;                                    // By sender, then receiver.
  std::map<std::pair<std::uint32_t, std::string>, RailUse> rails;  // By node and name.
  std::uint64_t connections = 0;
  std::uint32_t connections_most = 0;  // Of one rank.
  conn::Counts managed;
  std::vector<CallTimelinePart> timelines;  // By rank.

  // By rank.
  void add(RankNumbers numbers);
};

std::string to_json(const RunRecord& record);
std::string to_table(const RunRecord& record);

// summary.json, ranks.csv, calls.csv, traffic.txt, timeline.raw, and the table as summary.txt.
Status write_record(const std::string& folder, const RunRecord& record);

}  // namespace weft
