// SPDX-License-Identifier: Apache-2.0
// Chooses the context number of a new communicator: one that no member uses. A rank only knows that
// it has used none from `next_context` on; disjoint communicators may have the same number.
#pragma once

#include <cstdint>

#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/internal_group.hpp>

namespace weft::mpi {

// The members of a communicator (both groups of an intercommunicator), for one collective call.
InternalScope scope_of(Process& process, Communicator& comm);

struct Agreement {
  InternalScope scope;
  bool blocking = true;  // The rank does nothing else until it is done.
};
mp::Task agree(Process& process, Agreement agreement, std::uint32_t& context);

}  // namespace weft::mpi
