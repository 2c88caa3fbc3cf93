// SPDX-License-Identifier: Apache-2.0
#include "comm.hpp"

#include <algorithm>

#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/meeting.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/recovery.hpp>

namespace weft::mpi {

Communicator* find_communicator(Process& process, MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return &process.world;
  if (handle == MPI_COMM_SELF) return &process.self_only();
  Communicator* comm = process.communicators.find(handle);
  return comm && !comm->freed ? comm : nullptr;
}

void release(Process& process, Communicator* comm) {
  if (--comm->users > 0) return;
  release_handler(process, comm->handler);
  process.communicators.free(comm);
}

Communicator* make_communicator(Process& process, const Communicator& parent,
                                NewCommunicator made) {
  Communicator* comm = process.communicators.make();
  comm->handle = reinterpret_cast<MPI_Comm>(comm);
  comm->context = made.context;
  comm->inter = made.inter;
  comm->local = std::move(made.local);
  comm->remote = std::move(made.remote);
  comm->rank = comm->local.find(process.rank()).value_or(0);
  comm->session = parent.session;
  comm->handler = parent.handler;
  retain_handler(process, comm->handler);
  catch_up(process, *comm);
  note_worlds(process, *comm);
  return comm;
}

void catch_up(Process& process, Communicator& comm) {
  const std::vector<RankId>& lost = process.messenger.lost();
  comm.lost_members = static_cast<std::uint32_t>(
      std::count_if(lost.begin(), lost.end(), [&](RankId rank) { return comm.has(rank); }));
  if (comm.lost_members > 0) end_collectives(process, comm);
  if (process.revoked.contains(comm.context)) revoke(process, comm.context);
}

}  // namespace weft::mpi
