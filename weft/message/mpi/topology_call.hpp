// SPDX-License-Identifier: Apache-2.0
// Creates communicators with a topology. Collective over the parent; these block.
#pragma once

#include <memory>

#include <weft/message/mp/members.hpp>
#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/topology.hpp>

namespace weft::mpi {

// With these members, one of which is the calling rank. Returns an error class.
int make_with(Process& process, Communicator& parent, mp::Members members,
              std::shared_ptr<const Topology> topology, MPI_Comm* made);
// With the first `size` ranks; MPI_COMM_NULL for the others. Returns an error class.
int make_first(Process& process, Communicator& parent, int size,
               std::shared_ptr<const Topology> topology, MPI_Comm* made);

// An edge; any rank may have specified it.
struct Edge {
  int source = 0, destination = 0, weight = 0;
};
// Sends all edges to their ends; returns those that end at the calling rank.
LocalGraph spread_edges(Process& process, Communicator& comm, std::span<const Edge> edges);

}  // namespace weft::mpi
