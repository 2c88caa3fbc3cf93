// SPDX-License-Identifier: Apache-2.0
// Barrier, and operations with a root that move data.
#include <type_traits>

#include <weft/mpi/coll_call.hpp>

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

// Both kinds of gather: they differ in what they say of the receiving side.
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

WEFT_MPI(Bcast)(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return bcast(Form::blocking("MPI_Bcast", comm), {buffer, count, datatype}, root);
}

WEFT_MPI(Bcast_c)(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return bcast(Form::blocking("MPI_Bcast_c", comm), {buffer, count, datatype}, root);
}

WEFT_MPI(Ibcast)
(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
  return bcast(Form::started("MPI_Ibcast", comm, request), {buffer, count, datatype}, root);
}

WEFT_MPI(Ibcast_c)
(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
 MPI_Request* request) {
  return bcast(Form::started("MPI_Ibcast_c", comm, request), {buffer, count, datatype}, root);
}

WEFT_MPI(Bcast_init)
(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return bcast(Form::kept("MPI_Bcast_init", comm, request), {buffer, count, datatype}, root);
}

WEFT_MPI(Bcast_init_c)
(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return bcast(Form::kept("MPI_Bcast_init_c", comm, request), {buffer, count, datatype}, root);
}

WEFT_MPI(Gather)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather(Form::blocking("MPI_Gather", comm), {sendbuf, sendcount, sendtype},
                {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Gather_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather(Form::blocking("MPI_Gather_c", comm), {sendbuf, sendcount, sendtype},
                {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Igather)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return gather(Form::started("MPI_Igather", comm, request), {sendbuf, sendcount, sendtype},
                {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Igather_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return gather(Form::started("MPI_Igather_c", comm, request), {sendbuf, sendcount, sendtype},
                {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Gather_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return gather(Form::kept("MPI_Gather_init", comm, request), {sendbuf, sendcount, sendtype},
                {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Gather_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return gather(Form::kept("MPI_Gather_init_c", comm, request), {sendbuf, sendcount, sendtype},
                {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Gatherv)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gatherv(Form::blocking("MPI_Gatherv", comm), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcounts, displs, recvtype}, root);
}

WEFT_MPI(Gatherv_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
 MPI_Comm comm) {
  return gatherv(Form::blocking("MPI_Gatherv_c", comm), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcounts, displs, recvtype}, root);
}

WEFT_MPI(Igatherv)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return gatherv(Form::started("MPI_Igatherv", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcounts, displs, recvtype}, root);
}

WEFT_MPI(Igatherv_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
 MPI_Comm comm, MPI_Request* request) {
  return gatherv(Form::started("MPI_Igatherv_c", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcounts, displs, recvtype}, root);
}

WEFT_MPI(Gatherv_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return gatherv(Form::kept("MPI_Gatherv_init", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcounts, displs, recvtype}, root);
}

WEFT_MPI(Gatherv_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return gatherv(Form::kept("MPI_Gatherv_init_c", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcounts, displs, recvtype}, root);
}

WEFT_MPI(Scatter)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter(Form::blocking("MPI_Scatter", comm), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Scatter_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter(Form::blocking("MPI_Scatter_c", comm), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Iscatter)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return scatter(Form::started("MPI_Iscatter", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Iscatter_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return scatter(Form::started("MPI_Iscatter_c", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Scatter_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return scatter(Form::kept("MPI_Scatter_init", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Scatter_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return scatter(Form::kept("MPI_Scatter_init_c", comm, request), {sendbuf, sendcount, sendtype},
                 {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Scatterv)
(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
 void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatterv(Form::blocking("MPI_Scatterv", comm), {sendbuf, sendcounts, displs, sendtype},
                  {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Scatterv_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, MPI_Datatype sendtype,
 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatterv(Form::blocking("MPI_Scatterv_c", comm), {sendbuf, sendcounts, displs, sendtype},
                  {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Iscatterv)
(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
 void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
 MPI_Request* request) {
  return scatterv(Form::started("MPI_Iscatterv", comm, request),
                  {sendbuf, sendcounts, displs, sendtype}, {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Iscatterv_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, MPI_Datatype sendtype,
 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
 MPI_Request* request) {
  return scatterv(Form::started("MPI_Iscatterv_c", comm, request),
                  {sendbuf, sendcounts, displs, sendtype}, {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Scatterv_init)
(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
 void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return scatterv(Form::kept("MPI_Scatterv_init", comm, request),
                  {sendbuf, sendcounts, displs, sendtype}, {recvbuf, recvcount, recvtype}, root);
}

WEFT_MPI(Scatterv_init_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, MPI_Datatype sendtype,
 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
 MPI_Info /*info*/, MPI_Request* request) {
  return scatterv(Form::kept("MPI_Scatterv_init_c", comm, request),
                  {sendbuf, sendcounts, displs, sendtype}, {recvbuf, recvcount, recvtype}, root);
}
// NOLINTEND(readability-function-size)
