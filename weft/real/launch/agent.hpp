// SPDX-License-Identifier: Apache-2.0
// The part of `weft run` on each host: starts the ranks there, carries what they say, and leaves no
// process behind, whatever ends first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/agent_talk.hpp>

namespace weft::launch {

// For one rank of the host.
struct Place {
  std::string settings;            // Settings::places
  std::function<void()> in_child;  // Binds the process that will be the program; may be empty.
};
struct HostPlaces {
  std::vector<Place> ranks;  // In the order of HostJob::here.
  std::string explanation;   // For people.
};
// Decides for all ranks of the host; null: nothing is decided.
using DecidePlaces = std::function<Result<HostPlaces>(const HostJob& job)>;

// Serves one job over these descriptors, and ends when the job or the stream does. Returns an exit
// code. REQUIRES: this process is there for it alone; it kills all its descendants.
int serve_agent(int in, int out, const DecidePlaces& places);

// The same for a remote shell to start: beside the agent a process that cleans up if the agent is
// killed.
int serve_remote_agent(const DecidePlaces& places);

}  // namespace weft::launch
