// SPDX-License-Identifier: Apache-2.0
// What weft map works on: a machine, a pattern, and where ranks may go.
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
  std::string pattern;             // As a user would say it.
  std::vector<std::string> hosts;  // By node; empty: none were given.

  // For play_step().
  Arena arena() const { return {*machine.topology, machine.hardware, *policy}; }
};

Result<MapSetting> read_map_setting(const MapOptions& options);

// A map from a file, as slots.
Result<map::RankMap> read_rank_map(const std::string& path, const map::Problem& problem);

}  // namespace weft::app
