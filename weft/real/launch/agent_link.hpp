// SPDX-License-Identifier: Apache-2.0
// An agent as `weft run` sees it: a process (the agent itself, or a remote shell that leads to it)
// and the stream of frames.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <weft/base/result.hpp>
#include <weft/real/launch/agent.hpp>
#include <weft/real/launch/stream.hpp>

namespace weft::launch {

class AgentLink {
 public:
  // The child runs the agent and never returns from here.
  static Result<std::unique_ptr<AgentLink>> fork_local(const DecideBinding& places);
  static Result<std::unique_ptr<AgentLink>> start_remote(const std::vector<std::string>& words);
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;
  ~AgentLink();

  Stream& stream() { return stream_; }
  pid_t pid() const { return pid_; }

  // Standard error of the remote shell itself.
  int complaints() const { return complaints_; }
  void read_complaints();
  // Its last line, to explain why there is no agent.
  std::string last_complaint() const;
  // All whole lines since the last call.
  std::string take_complaints();

 private:
  AgentLink(pid_t pid, int socket, int complaints)
      : pid_(pid), stream_(socket, socket, agent_greeting), complaints_(complaints) {}
  const pid_t pid_;
  Stream stream_;
  int complaints_;
  std::string said_;
};

}  // namespace weft::launch
