// SPDX-License-Identifier: Apache-2.0
// What a rank asks of the launcher while the job runs: to start further processes, and to find
// others. Answers take time, and the rank makes progress meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/message/port/fabric.hpp>

namespace weft::mpi {

// Processes to be started, of one program.
struct SpawnCommand {
  std::vector<std::string> words;  // Program and arguments.
  int count = 1;
  std::string folder, host, path;  // Empty: as the launcher likes.
};

// A rank that we begin to talk to, and a number that only both have.
struct JobMeeting {
  RankId rank;
  std::uint32_t number = 0;
};

class JobDesk {
 public:
  using Ticket = std::uint64_t;
  struct Answer {
    int error = 0;     // Class of the error.
    std::string text;  // What went wrong, or the name that was asked for.
    JobMeeting meeting;
  };
  virtual ~JobDesk() = default;

  virtual Ticket start(std::span<const SpawnCommand> commands) = 0;  // The first of them.
  virtual Ticket open_port() = 0;
  virtual Ticket close_port(const std::string& port) = 0;
  virtual Ticket accept(const std::string& port) = 0;
  virtual Ticket connect(const std::string& port) = 0;
  virtual Ticket publish(const std::string& service, const std::string& port) = 0;
  virtual Ticket unpublish(const std::string& service) = 0;
  virtual Ticket look_up(const std::string& service) = 0;
  // These worlds, by their first ranks, this rank is connected to; no others.
  virtual Ticket tell_connected(std::span<const std::uint32_t> worlds) = 0;
  // Waits for all connected ranks to come to the same point.
  virtual Ticket finalize() = 0;
  // How these ranks can be reached: once that is answered, they can.
  virtual Ticket acquaint(std::span<const RankId> ranks) = 0;

  // Never blocks. true: the answer is here, and is given once.
  virtual bool answered(Ticket ticket, Answer& answer) = 0;
  // The answer does not matter.
  virtual void ignore(Ticket ticket) = 0;

  virtual bool knows(RankId rank) const = 0;
  // The first of those that started together with this rank. REQUIRES: it is known.
  virtual std::uint32_t world_of(RankId rank) const = 0;
  // The rank that asked for this process and those that started together with it.
  virtual std::optional<JobMeeting> parent() const = 0;
};

}  // namespace weft::mpi
