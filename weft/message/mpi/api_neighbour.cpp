// SPDX-License-Identifier: Apache-2.0
// Neighbourhood collectives: a message along each edge of a topology.
#include <algorithm>

#include <weft/message/coll/participant.hpp>
#include <weft/message/mpi/coll_call.hpp>
#include <weft/message/mpi/forms.hpp>
#include <weft/message/mpi/topology.hpp>

using weft::mpi::Collective;
using weft::mpi::CollectiveCall;
using weft::mpi::Form;
using weft::mpi::Piece;
using weft::mpi::Pieces;
namespace coll = weft::coll;
namespace mp = weft::mp;

namespace {

// In a grid, what goes to the lower neighbour is received from the upper one, and both may be the
// same rank, so each direction has its own lane. In graphs, several edges between one pair keep
// their order.
coll::Lane sending_lane(const Collective& c, std::size_t slot) {
  const bool before = c.comm.topology->cartesian() && slot % 2 == 0;
  return before ? coll::Lane::backward : coll::Lane::forward;
}
coll::Lane receiving_lane(const Collective& c, std::size_t slot) {
  const bool behind = c.comm.topology->cartesian() && slot % 2 == 1;
  return behind ? coll::Lane::backward : coll::Lane::forward;
}

mp::Task exchange(Collective& c, bool same_block) {
  coll::Participant s(c.team());
  std::vector<mp::Request*> open;
  open.reserve(c.sources.size() + c.destinations.size());
  const coll::Blocks takes = c.receive.blocks();
  const coll::Blocks gives = c.send.blocks();
  for (std::size_t i = 0; i < c.sources.size(); ++i) {
    const coll::Blocks::Block block = takes[static_cast<int>(i)];
    if (c.sources[i] == MPI_PROC_NULL || block.size == 0) continue;
    open.push_back(s.receive(c.sources[i], coll::at(c.receive.data(), block.offset), block.size,
                             receiving_lane(c, i)));
  }
  for (std::size_t i = 0; i < c.destinations.size(); ++i) {
    const coll::Blocks::Block block = gives[same_block ? 0 : static_cast<int>(i)];
    if (c.destinations[i] == MPI_PROC_NULL || block.size == 0) continue;
    open.push_back(s.send(c.destinations[i], coll::at(c.send.data(), block.offset), block.size,
                          sending_lane(c, i)));
  }
  for (std::size_t i = 0; i < open.size(); ++i) co_await s.finish(open[i]);
  co_return s.error();
}

mp::Task start_gathering(Collective& c) {
  return exchange(c, true);
}
mp::Task start_exchanging(Collective& c) {
  return exchange(c, false);
}

template <typename Sent, typename Received>
int launch(const Form& form, const Sent& send, const Received& receive, bool gathers) {
  CollectiveCall call(form);
  if (call.failed()) return call.error();
  if (!call.comm().topology) {
    call.fail(MPI_ERR_TOPOLOGY, "the communicator has none");
    return call.error();
  }
  Collective& c = call.operation();
  c.sources = c.comm.topology->sources(c.comm.rank);
  c.destinations = c.comm.topology->destinations(c.comm.rank);
  // Blocks without a neighbour stay unchanged.
  c.loads_receive = std::find(c.sources.begin(), c.sources.end(), MPI_PROC_NULL) != c.sources.end();
  call.receive(receive, static_cast<int>(c.sources.size()));
  call.send(send, gathers ? 1 : static_cast<int>(c.destinations.size()));
  call.apart();
  return call.launch(gathers ? &start_gathering : &start_exchanging);
}

int neighbor_allgather(const Form& form, const Piece& send, const Piece& receive) {
  return launch(form, send, receive, true);
}
int neighbor_allgatherv(const Form& form, const Piece& send, const Pieces& receive) {
  return launch(form, send, receive, true);
}
int neighbor_alltoall(const Form& form, const Piece& send, const Piece& receive) {
  return launch(form, send, receive, false);
}
int neighbor_alltoallv(const Form& form, const Pieces& send, const Pieces& receive) {
  return launch(form, send, receive, false);
}
int neighbor_alltoallw(const Form& form, const Pieces& send, const Pieces& receive) {
  return launch(form, send, receive, false);
}

}  // namespace

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)

WEFT_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, WEFT_EVEN,
                neighbor_allgather(form, {sendbuf, sendcount, sendtype},
                                   {recvbuf, recvcount, recvtype}))
WEFT_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, WEFT_TO_UNEVEN,
                neighbor_allgatherv(form, {sendbuf, sendcount, sendtype},
                                    {recvbuf, recvcounts, rdispls, recvtype}))
WEFT_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, WEFT_EVEN,
                neighbor_alltoall(form, {sendbuf, sendcount, sendtype},
                                  {recvbuf, recvcount, recvtype}))
WEFT_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, WEFT_UNEVEN,
                neighbor_alltoallv(form, {sendbuf, sendcounts, sdispls, sendtype},
                                   {recvbuf, recvcounts, rdispls, recvtype}))

// Displacements in bytes are addresses here, whatever the type of counts.
#define WEFT_MIXED_FAR(Count, Place) WEFT_MIXED(Count, MPI_Aint)
WEFT_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, WEFT_MIXED_FAR,
                neighbor_alltoallw(form,
                                   {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                                   {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes}))
