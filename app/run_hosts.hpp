// SPDX-License-Identifier: Apache-2.0
// The hosts of weft run, and the placement of ranks on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/launcher.hpp>

namespace weft::app {

struct RunPlacing {
  std::string hosts;       // The option; empty: the hosts of a Slurm job, else this machine.
  std::string map;         // A file; empty: ranks in blocks.
  std::int64_t ranks = 0;  // 0: not given.
};

struct RunPlaces {
  std::vector<launch::HostRanks> used, spare;
  std::uint32_t slots = 0;  // Of all hosts; 0: unknown.
};
Result<RunPlaces> place_ranks(const RunPlacing& placing);

// The command that starts commands on another host by default.
std::vector<std::string> usual_remote_shell(const RunPlacing& placing);

}  // namespace weft::app
