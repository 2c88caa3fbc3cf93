// SPDX-License-Identifier: Apache-2.0
// Collectives in which every rank contributes and receives.
#include <weft/message/mpi/coll_call.hpp>
#include <weft/message/mpi/forms.hpp>

using weft::mpi::Collective;
using weft::mpi::CollectiveCall;
using weft::mpi::Form;
using weft::mpi::Piece;
using weft::mpi::Pieces;
namespace coll = weft::coll;
namespace mp = weft::mp;

namespace {

// Compares the sizes of the rank's own blocks on both sides.
void compare_own(CollectiveCall& call, std::size_t sent) {
  if (call.failed() || call.inter()) return;
  call.agree(sent, call.operation().receive.blocks()[call.comm().rank].size);
  call.apart(call.comm().rank);
}

mp::Task start_allgatherv(Collective& c) {
  const coll::Gatherv args{c.send.data(), c.send.total(), c.receive.data(), c.receive.blocks(), 0,
                           c.in_place};
  return c.comm.inter ? coll::allgatherv(c.bridge(), args) : coll::allgatherv(c.team(), args);
}

mp::Task start_allgather(Collective& c) {
  if (c.comm.inter) return start_allgatherv(c);
  return coll::allgather(c.team(),
                         {c.send.data(), c.receive.data(), c.receive.block(), 0, c.in_place});
}

int allgather(const Form& form, const Piece& send, const Piece& receive) {
  CollectiveCall call(form);
  if (call.failed()) return call.error();
  call.receive(receive, call.peers());
  call.send_or_in_place(send, 1);
  if (!call.failed()) compare_own(call, call.operation().send.total());
  return call.launch(&start_allgather);
}

int allgatherv(const Form& form, const Piece& send, const Pieces& receive) {
  CollectiveCall call(form);
  if (call.failed()) return call.error();
  call.receive(receive, call.peers());
  call.send_or_in_place(send, 1);
  if (!call.failed()) compare_own(call, call.operation().send.total());
  return call.launch(&start_allgatherv);
}

mp::Task start_alltoallv(Collective& c) {
  const coll::Alltoallv args{c.send.data(), c.send.blocks(), c.receive.data(), c.receive.blocks(),
                             c.in_place};
  return c.comm.inter ? coll::alltoallv(c.bridge(), args) : coll::alltoallv(c.team(), args);
}

mp::Task start_alltoall(Collective& c) {
  if (c.comm.inter) return start_alltoallv(c);
  return coll::alltoall(c.team(),
                        {c.send.data(), c.receive.data(), c.receive.block(), 0, c.in_place});
}

template <typename Given>
int exchange(const Form& form, const Given& send, const Given& receive, Collective::Begin begin) {
  CollectiveCall call(form);
  if (call.failed()) return call.error();
  call.receive(receive, call.peers());
  call.send_or_in_place(send, call.peers());
  if (!call.failed() && !call.inter() && !call.operation().in_place) {
    compare_own(call, call.operation().send.blocks()[call.comm().rank].size);
  }
  return call.launch(begin);
}

int alltoall(const Form& form, const Piece& send, const Piece& receive) {
  return exchange(form, send, receive, &start_alltoall);
}
int alltoallv(const Form& form, const Pieces& send, const Pieces& receive) {
  return exchange(form, send, receive, &start_alltoallv);
}
int alltoallw(const Form& form, const Pieces& send, const Pieces& receive) {
  return exchange(form, send, receive, &start_alltoallv);
}

}  // namespace

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)

WEFT_COLLECTIVE(Allgather, Iallgather, WEFT_EVEN,
                allgather(form, {sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}))
WEFT_COLLECTIVE(Allgatherv, Iallgatherv, WEFT_TO_UNEVEN,
                allgatherv(form, {sendbuf, sendcount, sendtype},
                           {recvbuf, recvcounts, rdispls, recvtype}))
WEFT_COLLECTIVE(Alltoall, Ialltoall, WEFT_EVEN,
                alltoall(form, {sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}))
WEFT_COLLECTIVE(Alltoallv, Ialltoallv, WEFT_UNEVEN,
                alltoallv(form, {sendbuf, sendcounts, sdispls, sendtype},
                          {recvbuf, recvcounts, rdispls, recvtype}))
WEFT_COLLECTIVE(Alltoallw, Ialltoallw, WEFT_MIXED,
                alltoallw(form, {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                          {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes}))
