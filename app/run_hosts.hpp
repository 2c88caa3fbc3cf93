// SPDX-License-Identifier: Apache-2.0
// Which hosts weft run uses and which ranks go where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/launcher.hpp>

namespace weft::app {

struct RunPlacing {
  std::string hosts;       // As the option says; empty: those of a Slurm job, else this machine.
  std::string map;         // A file; empty: blocks.
  std::int64_t ranks = 0;  // 0: not said.
};

Result<std::vector<launch::HostRanks>> place_ranks(const RunPlacing& placing);

// Starts a command on another host, if nobody says how.
std::vector<std::string> usual_remote_shell(const RunPlacing& placing);

}  // namespace weft::app
