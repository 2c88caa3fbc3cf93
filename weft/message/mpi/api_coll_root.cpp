// SPDX-License-Identifier: Apache-2.0
// Barrier, and rooted collectives that move data.
#include <type_traits>

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

int barrier(const Form& form) {
  CollectiveCall call(form);
  return call.launch([](Collective& c) {
    return c.comm.inter ? coll::barrier(c.bridge()) : coll::barrier(c.team());
  });
}

mp::Task start_bcast(Collective& c) {
  const coll::Bcast args{c.receive.data(), c.receive.total(), c.root};
  return c.comm.inter ? coll::bcast(c.bridge(), args, c.bridge_root) : coll::bcast(c.team(), args);
}

int bcast(const Form& form, const Piece& data, int root) {
  CollectiveCall call(form);
  call.root(root);
  if (!call.failed() && (call.is_root() || call.faces_root())) {
    call.receive(data, 1);
    call.operation().loads_receive = call.is_root();
    call.operation().stores = !call.is_root();
    call.carry_if_small();
  }
  return call.launch(&start_bcast);
}

coll::Gatherv gathered(const Collective& c) {
  return {c.send.data(), c.send.total(), c.receive.data(), c.receive.blocks(), c.root, c.in_place};
}

mp::Task start_gatherv(Collective& c) {
  if (c.comm.inter) return coll::gatherv(c.bridge(), gathered(c), c.bridge_root);
  return coll::gatherv(c.team(), gathered(c));
}

mp::Task start_gather(Collective& c) {
  if (c.comm.inter) return start_gatherv(c);
  const std::size_t block = c.is_root() ? c.receive.block() : c.send.total();
  return coll::gather(c.team(), {c.send.data(), c.receive.data(), block, c.root, c.in_place});
}

// Both kinds of gather; they differ in how the receiving side is described.
template <typename Received>
int gather_into(const Form& form, const Piece& send, const Received& receive, int root) {
  CollectiveCall call(form);
  call.root(root);
  if (call.failed()) return call.error();
  if (call.is_root()) call.receive(receive, call.peers());
  if (call.is_root() && !call.inter()) {
    call.send_or_in_place(send, 1);
    if (call.failed()) return call.error();
    call.agree(call.operation().send.total(),
               call.operation().receive.blocks()[call.comm().rank].size);
    call.apart(call.comm().rank);
  } else if (call.faces_root()) {
    call.send(send, 1);
  }
  constexpr bool equal = std::is_same_v<Received, Piece>;
  return call.launch(equal ? &start_gather : &start_gatherv);
}

int gather(const Form& form, const Piece& send, const Piece& receive, int root) {
  return gather_into(form, send, receive, root);
}
int gatherv(const Form& form, const Piece& send, const Pieces& receive, int root) {
  return gather_into(form, send, receive, root);
}

mp::Task start_scatterv(Collective& c) {
  const coll::Scatterv args{c.send.data(),     c.send.blocks(), c.receive.data(),
                            c.receive.total(), c.root,          c.in_place};
  if (c.comm.inter) return coll::scatterv(c.bridge(), args, c.bridge_root);
  return coll::scatterv(c.team(), args);
}

mp::Task start_scatter(Collective& c) {
  if (c.comm.inter) return start_scatterv(c);
  const std::size_t block = c.is_root() ? c.send.block() : c.receive.total();
  return coll::scatter(c.team(), {c.send.data(), c.receive.data(), block, c.root, c.in_place});
}

template <typename Sent>
int scatter_from(const Form& form, const Sent& send, const Piece& receive, int root) {
  CollectiveCall call(form);
  call.root(root);
  if (call.failed()) return call.error();
  if (call.is_root()) call.send(send, call.peers());
  if (call.is_root() && !call.inter()) {
    if (receive.buffer == MPI_IN_PLACE) {
      call.set_in_place();
    } else {
      call.receive(receive, 1);
    }
    if (call.failed()) return call.error();
    call.agree(call.operation().send.blocks()[call.comm().rank].size,
               call.operation().receive.total());
    call.apart();
  } else if (call.faces_root()) {
    call.receive(receive, 1);
  }
  constexpr bool equal = std::is_same_v<Sent, Piece>;
  return call.launch(equal ? &start_scatter : &start_scatterv);
}

int scatter(const Form& form, const Piece& send, const Piece& receive, int root) {
  return scatter_from(form, send, receive, root);
}
int scatterv(const Form& form, const Pieces& send, const Piece& receive, int root) {
  return scatter_from(form, send, receive, root);
}

}  // namespace

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)
WEFT_MPI(Barrier)(MPI_Comm comm) {
  return barrier(Form::blocking("MPI_Barrier", comm));
}

WEFT_MPI(Ibarrier)(MPI_Comm comm, MPI_Request* request) {
  return barrier(Form::started("MPI_Ibarrier", comm, request));
}

WEFT_MPI(Barrier_init)(MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return barrier(Form::kept("MPI_Barrier_init", comm, request));
}

#define WEFT_BCAST(Count, Place) void *buffer, Count count, MPI_Datatype datatype, int root
WEFT_COLLECTIVE(Bcast, Ibcast, WEFT_BCAST, bcast(form, {buffer, count, datatype}, root))

#define WEFT_ROOT_EVEN(Count, Place) WEFT_EVEN(Count, Place), int root
WEFT_COLLECTIVE(Gather, Igather, WEFT_ROOT_EVEN,
                gather(form, {sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root))
WEFT_COLLECTIVE(Scatter, Iscatter, WEFT_ROOT_EVEN,
                scatter(form, {sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root))

#define WEFT_TO_ROOT(Count, Place) WEFT_TO_UNEVEN(Count, Place), int root
WEFT_COLLECTIVE(Gatherv, Igatherv, WEFT_TO_ROOT,
                gatherv(form, {sendbuf, sendcount, sendtype},
                        {recvbuf, recvcounts, rdispls, recvtype}, root))

#define WEFT_FROM_ROOT(Count, Place) WEFT_TO_EVEN(Count, Place), int root
WEFT_COLLECTIVE(Scatterv, Iscatterv, WEFT_FROM_ROOT,
                scatterv(form, {sendbuf, sendcounts, sdispls, sendtype},
                         {recvbuf, recvcount, recvtype}, root))
