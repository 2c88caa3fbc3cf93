// SPDX-License-Identifier: Apache-2.0
// The problem that weft map solves: a machine, the traffic, and where ranks may go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "map_options.hpp"

#include <weft/simulate/machine/description.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::app {

struct MapSetting {
  MachineDescription machine;
  std::unique_ptr<Policy> policy;
  std::unique_ptr<map::Problem> problem;
  std::string pattern;             // The traffic file or the program, for the report.
  std::vector<std::string> hosts;  // By node; empty if none were given.

  // For play_step().
  Arena arena() const { return {*machine.topology, machine.hardware, *policy}; }
};

Result<MapSetting> read_map_setting(const MapOptions& options);

// Reads a map from a file; its ranks are on slots of the problem.
Result<map::RankMap> read_rank_map(const std::string& path, const map::Problem& problem);

}  // namespace weft::app
