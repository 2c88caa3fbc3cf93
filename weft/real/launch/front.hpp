// SPDX-License-Identifier: Apache-2.0
// The process that a user starts: has an agent on every host, brings their ranks together, and says
// what became of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/real/launch/agent.hpp>
#include <weft/real/launch/settings.hpp>

namespace weft::launch {

struct HostRanks {
  std::string name;
  bool local = false;                // The agent is a child of ours; else one of a remote shell.
  std::vector<std::uint32_t> ranks;  // In order; not empty.
};

struct FrontJob {
  std::vector<HostRanks> hosts;
  std::vector<std::string> words;               // Program and arguments.
  std::vector<std::string> environment;         // "NAME=VALUE" for every rank.
  std::vector<std::string> remote_environment;  // For those on other hosts.
  std::string folder;
  Settings settings;
  std::string bind;
  std::string machine;   // See HostJob.
  bool explain = false;  // Print where ranks are and why.
  // Words before the host's name, which stands for a %h in them if there is one.
  std::vector<std::string> remote_shell;
  std::vector<std::string> remote_agent;  // Who calls serve_remote_agent() on other hosts.
  bool label = false;
  Duration grace = Duration::ms(5000);  // For survivors to say what they know.
  Duration timeout = Duration::zero();  // Zero: none.
  DecidePlaces places;                  // For the ranks on this host.
};

// Runs the job; returns the exit code. An error is one of starting it.
Result<int> run_front(const FrontJob& job);

}  // namespace weft::launch
