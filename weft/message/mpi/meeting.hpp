// SPDX-License-Identifier: Apache-2.0
// Groups that did not start together meet: one rank of each finds the other with the launcher's
// help, then all make an intercommunicator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/job_desk.hpp>
#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

// Waits for the answer of the launcher. REQUIRES: there is one.
JobDesk::Answer await(Process& process, JobDesk::Ticket ticket);
// Sees to it that these ranks can be reached.
void acquaint(Process& process, const mp::Members& members);

// What the root of a group has found out. The rest follows for all members.
struct Encounter {
  int error = MPI_SUCCESS;
  std::string why;          // At the root only.
  std::uint32_t count = 0;  // Told to all members.
  JobMeeting meeting;
};
// Collective over the communicator; what the root says counts. Null: an error, which all members
// find in `found`.
Communicator* meet(Process& process, Communicator& local, int root, Encounter& found);

// The leaders of two groups exchange their groups, and tell them to their own members.
mp::Task trade_groups(InternalScope scope, Words& remote);

// Finds out which other worlds a new communicator connects, and tells the launcher.
void note_worlds(Process& process, Communicator& comm);
// After communicators came or went. The ticket of what the launcher was told; nothing: there was no
// need.
std::optional<JobDesk::Ticket> tell_connected(Process& process);

}  // namespace weft::mpi
