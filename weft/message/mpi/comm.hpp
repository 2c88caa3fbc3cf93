// SPDX-License-Identifier: Apache-2.0
// A communicator: ranks that may exchange messages, separate from all other communicators. It is
// reference-counted: the program's handle is one user, every request in flight another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/groups.hpp>
#include <weft/message/mp/members.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/info.hpp>
#include <weft/message/mpi/keyvals.hpp>

namespace weft::mpi {

struct Process;
class Buffering;  // buffering.hpp
struct Topology;  // topology.hpp

struct Communicator {
  // The purpose of messages. Each communicator has a context for each purpose, so they never mix.
  enum class Traffic : std::uint8_t {
    messages,     // Point-to-point.
    collectives,  // Between the members; in an intercommunicator, between its two groups.
    local,        // Collective within the local group of an intercommunicator.
    creation,     // MPI_Comm_create_group, by the program's tag.
    offers,       // From a partitioned send to its receive, by the program's tag.
    partitions,   // Partitioned messages.
  };

  MPI_Comm handle = MPI_COMM_NULL;
  std::uint32_t context = 0;  // Agreed on by all members; see context().
  int rank = 0;               // Our rank in `local`.
  bool inter = false;
  mp::Members local;
  mp::Members remote;  // For an intercommunicator.
  std::uint32_t users = 1;
  std::uint32_t collective_calls = 0;
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  bool freed = false;     // By the program; requests may still use it.
  bool internal = false;  // Of a file or window: the program has no handle.
  Attributes attributes;
  std::string name;
  InfoTable info;
  std::shared_ptr<const Topology> topology;  // Shared with duplicates.
  std::unique_ptr<const Groups> groups;      // Members near each other; created when needed.
  std::shared_ptr<Buffering> buffering;      // Null: the program has attached no buffer.
  MPI_Session session = MPI_SESSION_NULL;    // From which it descends.
  // Failures: how many members are known to be lost, how many of those (in the order of the
  // messenger's list) the program has acknowledged, and how often members have agreed.
  std::uint32_t lost_members = 0;
  std::uint32_t acknowledged = 0;
  std::uint32_t consensus_calls = 0;
  bool revoked = false;
  bool parting = false;               // In MPI_Comm_disconnect.
  std::vector<std::uint32_t> worlds;  // Others that it connects, by their first ranks.

  int size() const { return local.size(); }
  // The ranks that point-to-point calls (and roots on the other side) refer to.
  const mp::Members& peers() const { return inter ? remote : local; }
  bool has(RankId member) const {
    return local.find(member).has_value() || (inter && remote.find(member).has_value());
  }
  // A receive from any rank may wait for one that is lost, and the program does not know.
  bool any_source_in_doubt() const { return lost_members > acknowledged; }
  // What an operation returns that cannot come to its end.
  int failure() const { return revoked ? MPI_ERR_REVOKED : MPI_ERR_PROC_FAILED; }

  mp::ContextId context_of(Traffic traffic) const {
    return context * 8 + static_cast<mp::ContextId>(traffic);
  }
  // Members call collectives in the same order, so all of them use the same tag for the same call,
  // and concurrent calls do not mix. Every collective takes exactly one.
  int next_collective_tag() { return static_cast<int>(collective_calls++ & 0x3fffffff); }

  void retain() { ++users; }
};

// The live communicator behind a handle, or null.
Communicator* find_communicator(Process& process, MPI_Comm handle);
// Releases one reference; the last one destroys the object.
void release(Process& process, Communicator* comm);

// A new communicator over the same or other members, with the error handler of its parent.
// `context` must have been agreed on.
struct NewCommunicator {
  std::uint32_t context = 0;
  mp::Members local;
  mp::Members remote;
  bool inter = false;
};
Communicator* make_communicator(Process& process, const Communicator& parent, NewCommunicator made);

// Tells a communicator that has got its context what happened to that, or to its members, before.
void catch_up(Process& process, Communicator& comm);

// Collective over the parent: agrees on a context that is new to all members. Blocks. Nothing: a
// member is lost, or the parent revoked.
std::optional<std::uint32_t> agree_context(Process& process, Communicator& parent);
// Collective: groups the ranks by colour, ordered by key, then by rank. `made` is null for the
// colour MPI_UNDEFINED. Blocks. Returns an error class.
int split(Process& process, Communicator& parent, int colour, int key, Communicator*& made);

}  // namespace weft::mpi
