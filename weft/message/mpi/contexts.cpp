// SPDX-License-Identifier: Apache-2.0
#include "contexts.hpp"

#include <algorithm>
#include <array>

#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

InternalScope scope_of(Process& process, Communicator& comm) {
  const int tag = comm.next_collective_tag();
  using Traffic = Communicator::Traffic;
  const mp::ContextId inside = comm.context_of(comm.inter ? Traffic::local : Traffic::collectives);
  InternalScope scope{{process.messenger, comm.local, comm.rank, inside, tag}, 0, comm.inter, {}};
  if (comm.inter) {
    scope.link = {comm.remote[0], comm.context_of(Traffic::collectives), 0, 0, tag};
  }
  return scope;
}

namespace {

// Different for concurrent calls of a rank, but the same at all members.
std::uint32_t spread(const InternalGroup& internal, std::uint32_t round) {
  if (round == 0) return 0;
  const std::uint32_t mixed =
      (internal.context * 2654435761U + static_cast<std::uint32_t>(internal.tag) * 40503U) *
      (2 * round + 1);
  return (mixed >> 8) % (4U << std::min(round, 10U));
}

}  // namespace

// The maximum of `next_context` over all members is free at all of them, unless a member takes part
// in several agreements at once (MPI_Comm_idup, several threads): it may have assigned the number
// meanwhile, so all must confirm it. If several agreements collide, the one with the all_max number
// always succeeds, and the spread makes them differ, so this terminates.
mp::Task agree(Process& process, Agreement agreement, std::uint32_t& context) {
  const InternalGroup& own = agreement.scope.own;
  const bool alone = agreement.blocking && process.thread_level != MPI_THREAD_MULTIPLE;
  ++process.agreements;
  int error = 0;
  for (std::uint32_t round = 0;; ++round) {
    const bool busy = !alone || process.agreements > 1;
    std::array<std::uint32_t, 2> proposal = {process.next_context + spread(own, round),
                                             busy ? 1U : 0U};
    mp::Task proposed = all_max(agreement.scope, proposal);
    error = co_await proposed;
    if (error != 0) break;
    context = proposal[0];
    std::array<std::uint32_t, 1> refused = {context < process.next_context ? 1U : 0U};
    process.next_context = std::max(process.next_context, context + 1);
    if (proposal[1] == 0) break;
    mp::Task confirmed = all_max(agreement.scope, refused);
    error = co_await confirmed;
    if (error != 0 || refused[0] == 0) break;
  }
  --process.agreements;
  co_return error;
}

std::optional<std::uint32_t> agree_context(Process& process, Communicator& parent) {
  std::uint32_t context = 0;
  const mp::Task task = agree(process, {scope_of(process, parent), true}, context);
  if (process.run(task) != 0 || parent.revoked) return std::nullopt;
  return context;
}

}  // namespace weft::mpi
