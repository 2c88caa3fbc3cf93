// SPDX-License-Identifier: Apache-2.0
// Communicators with a topology. Collective over the parent; these block.
#pragma once

#include <memory>

#include <weft/message/mp/members.hpp>
#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/topology.hpp>

namespace weft::mpi {

// Of these members, of which the calling rank is one.
MPI_Comm make_with(Process& process, Communicator& parent, mp::Members members,
                   std::shared_ptr<const Topology> topology);
// Of the first `size` ranks; MPI_COMM_NULL for the others.
MPI_Comm make_first(Process& process, Communicator& parent, int size,
                    std::shared_ptr<const Topology> topology);

// An edge that any rank may have named.
struct Edge {
  int source = 0, destination = 0, weight = 0;
};
// Tells the ends of all edges of them; gives those that end at the calling rank.
LocalGraph spread_edges(Process& process, Communicator& comm, std::span<const Edge> edges);

}  // namespace weft::mpi
