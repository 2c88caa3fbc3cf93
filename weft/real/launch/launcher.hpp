// SPDX-License-Identifier: Apache-2.0
// `weft run` itself, the process that a user starts: has an agent on every host, connects their
// ranks, and reports how they ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/real/launch/agent.hpp>
#include <weft/real/launch/settings.hpp>

namespace weft::launch {

struct HostRanks {
  std::string name;
  // The agent is our child; otherwise it runs behind a remote shell.
  bool local = false;
  std::vector<std::uint32_t> ranks;  // In order.
};

struct LaunchJob {
  std::vector<HostRanks> hosts;
  std::vector<HostRanks> spare_hosts;           // For ranks that start later; no ranks.
  std::vector<std::string> words;               // Program and arguments.
  std::vector<std::string> environment;         // "NAME=VALUE" for every rank.
  std::vector<std::string> remote_environment;  // For ranks on other hosts.
  std::string folder;
  Settings settings;
  std::string bind;
  std::string machine;   // See HostJob.
  bool explain = false;  // Print the binding of ranks and its reasons.
  // The remote shell's command; %h stands for the host's name, which otherwise follows at the end.
  std::vector<std::string> remote_shell;
  // The command that calls serve_remote_agent() on other hosts.
  std::vector<std::string> remote_agent;
  bool label = false;
  // Called with text of a rank as it is printed: rank, stream (1 or 2), text in any pieces.
  std::function<void(std::uint32_t, int, std::string_view)> printed;
  Duration grace = Duration::ms(5000);  // Time for surviving ranks to report.
  // Time for ranks to end by themselves after a signal or at the time limit.
  Duration stop_grace = Duration::ms(1000);
  Duration timeout = Duration::zero();  // Zero: no limit.
  std::uint32_t universe = 0;           // See Birth.
  DecideBinding places;                 // Binds the ranks on this host.
};

// Runs the job and returns its exit code. An error means that it could not be started.
Result<int> launch_job(const LaunchJob& job);

}  // namespace weft::launch
