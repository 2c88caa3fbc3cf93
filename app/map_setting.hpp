// SPDX-License-Identifier: Apache-2.0
// The problem that weft map solves: a machine, the traffic, and where ranks may go.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "map_options.hpp"
#include "map_record.hpp"

#include <weft/simulate/machine/description.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::app {

struct MapSetting {
  MachineDescription machine;
  std::unique_ptr<Policy> policy;
  std::unique_ptr<map::Problem> problem;
  std::string pattern;             // The traffic file or the program, for the report.
  std::vector<std::string> hosts;  // By node; empty if none were given.
  // Copies of the network: all is about one of them, which carries its share of every message.
  int planes = 1;
  // Of a record: the map of the run, if it is one of this problem, and what the report says of it.
  std::optional<map::RankMap> present;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string run_again;  // The command that runs its program with the map that is written.

  // What a new map is compared with.
  map::RankMap before() const { return present ? *present : problem->in_order(); }
  std::string before_name() const { return present ? "present map" : "identity"; }

  // For play_step().
  Arena arena() const { return {*machine.topology, machine.hardware, *policy}; }
};

// `record`: that of the options, or null.
Result<MapSetting> read_map_setting(const MapOptions& options, const MapRecord* record);

// Reads a map from a file; its ranks are on slots of the problem.
Result<map::RankMap> read_rank_map(const std::string& path, const map::Problem& problem);

// The same, or one of the maps that have a name: identity, random and random:SEED.
Result<map::RankMap> named_rank_map(const std::string& word, const map::Problem& problem);
// Ranks on slots in random order.
map::RankMap random_rank_map(const map::Problem& problem, std::uint64_t seed);

}  // namespace weft::app
