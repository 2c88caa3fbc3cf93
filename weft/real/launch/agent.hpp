// SPDX-License-Identifier: Apache-2.0
// The part of `weft run` on each host: starts the ranks there, forwards their output, and leaves no
// process behind, whatever ends first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/agent_protocol.hpp>

namespace weft::launch {

// The binding of one rank of the host.
struct RankBinding {
  std::string settings;            // See Settings::places.
  std::function<void()> in_child;  // Runs in the child before exec, to bind it; may be empty.
};
struct HostBinding {
  std::vector<RankBinding> ranks;  // In the order of HostJob::here.
  std::string explanation;         // To be printed for the user.
};
// Decides the binding of all ranks of the host; null: ranks are not bound.
using DecideBinding = std::function<Result<HostBinding>(const HostJob& job)>;

// Serves one job over these descriptors, and ends when the job or the stream does. Returns an exit
// code. REQUIRES: this process does nothing else; it kills all its descendants.
int serve_agent(int in, int out, const DecideBinding& places);

// The same, to be started by a remote shell: adds a process beside the agent that cleans up if the
// agent is killed.
int serve_remote_agent(const DecideBinding& places);

}  // namespace weft::launch
