// SPDX-License-Identifier: Apache-2.0
// Operations in which all give and all receive.
#include <weft/mpi/coll_call.hpp>

using weft::mpi::Collective;
using weft::mpi::CollectiveCall;
using weft::mpi::Form;
using weft::mpi::Piece;
using weft::mpi::Pieces;
namespace coll = weft::coll;
namespace mp = weft::mp;

namespace {

// The own blocks of both sides.
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
WEFT_MPI(Allgather)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(Form::blocking("MPI_Allgather", comm), {sendbuf, sendcount, sendtype},
                   {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Allgather_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(Form::blocking("MPI_Allgather_c", comm), {sendbuf, sendcount, sendtype},
                   {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Iallgather)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return allgather(Form::started("MPI_Iallgather", comm, request), {sendbuf, sendcount, sendtype},
                   {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Iallgather_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return allgather(Form::started("MPI_Iallgather_c", comm, request), {sendbuf, sendcount, sendtype},
                   {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Allgather_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return allgather(Form::kept("MPI_Allgather_init", comm, request), {sendbuf, sendcount, sendtype},
                   {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Allgather_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return allgather(Form::kept("MPI_Allgather_init_c", comm, request),
                   {sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Allgatherv)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgatherv(Form::blocking("MPI_Allgatherv", comm), {sendbuf, sendcount, sendtype},
                    {recvbuf, recvcounts, displs, recvtype});
}

WEFT_MPI(Allgatherv_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgatherv(Form::blocking("MPI_Allgatherv_c", comm), {sendbuf, sendcount, sendtype},
                    {recvbuf, recvcounts, displs, recvtype});
}

WEFT_MPI(Iallgatherv)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return allgatherv(Form::started("MPI_Iallgatherv", comm, request), {sendbuf, sendcount, sendtype},
                    {recvbuf, recvcounts, displs, recvtype});
}

WEFT_MPI(Iallgatherv_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm,
 MPI_Request* request) {
  return allgatherv(Form::started("MPI_Iallgatherv_c", comm, request),
                    {sendbuf, sendcount, sendtype}, {recvbuf, recvcounts, displs, recvtype});
}

WEFT_MPI(Allgatherv_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return allgatherv(Form::kept("MPI_Allgatherv_init", comm, request),
                    {sendbuf, sendcount, sendtype}, {recvbuf, recvcounts, displs, recvtype});
}

WEFT_MPI(Allgatherv_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm,
 MPI_Info /*info*/, MPI_Request* request) {
  return allgatherv(Form::kept("MPI_Allgatherv_init_c", comm, request),
                    {sendbuf, sendcount, sendtype}, {recvbuf, recvcounts, displs, recvtype});
}

WEFT_MPI(Alltoall)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(Form::blocking("MPI_Alltoall", comm), {sendbuf, sendcount, sendtype},
                  {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Alltoall_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(Form::blocking("MPI_Alltoall_c", comm), {sendbuf, sendcount, sendtype},
                  {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Ialltoall)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return alltoall(Form::started("MPI_Ialltoall", comm, request), {sendbuf, sendcount, sendtype},
                  {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Ialltoall_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return alltoall(Form::started("MPI_Ialltoall_c", comm, request), {sendbuf, sendcount, sendtype},
                  {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Alltoall_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return alltoall(Form::kept("MPI_Alltoall_init", comm, request), {sendbuf, sendcount, sendtype},
                  {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Alltoall_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
 MPI_Request* request) {
  return alltoall(Form::kept("MPI_Alltoall_init_c", comm, request), {sendbuf, sendcount, sendtype},
                  {recvbuf, recvcount, recvtype});
}

WEFT_MPI(Alltoallv)
(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoallv(Form::blocking("MPI_Alltoallv", comm), {sendbuf, sendcounts, sdispls, sendtype},
                   {recvbuf, recvcounts, rdispls, recvtype});
}

WEFT_MPI(Alltoallv_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
 MPI_Comm comm) {
  return alltoallv(Form::blocking("MPI_Alltoallv_c", comm),
                   {sendbuf, sendcounts, sdispls, sendtype},
                   {recvbuf, recvcounts, rdispls, recvtype});
}

WEFT_MPI(Ialltoallv)
(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
 MPI_Request* request) {
  return alltoallv(Form::started("MPI_Ialltoallv", comm, request),
                   {sendbuf, sendcounts, sdispls, sendtype},
                   {recvbuf, recvcounts, rdispls, recvtype});
}

WEFT_MPI(Ialltoallv_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
 MPI_Comm comm, MPI_Request* request) {
  return alltoallv(Form::started("MPI_Ialltoallv_c", comm, request),
                   {sendbuf, sendcounts, sdispls, sendtype},
                   {recvbuf, recvcounts, rdispls, recvtype});
}

WEFT_MPI(Alltoallv_init)
(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
 MPI_Info /*info*/, MPI_Request* request) {
  return alltoallv(Form::kept("MPI_Alltoallv_init", comm, request),
                   {sendbuf, sendcounts, sdispls, sendtype},
                   {recvbuf, recvcounts, rdispls, recvtype});
}

WEFT_MPI(Alltoallv_init_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return alltoallv(Form::kept("MPI_Alltoallv_init_c", comm, request),
                   {sendbuf, sendcounts, sdispls, sendtype},
                   {recvbuf, recvcounts, rdispls, recvtype});
}

WEFT_MPI(Alltoallw)
(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
 void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
 MPI_Comm comm) {
  return alltoallw(Form::blocking("MPI_Alltoallw", comm),
                   {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                   {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes});
}

WEFT_MPI(Alltoallw_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
 const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
 const MPI_Datatype* recvtypes, MPI_Comm comm) {
  return alltoallw(Form::blocking("MPI_Alltoallw_c", comm),
                   {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                   {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes});
}

WEFT_MPI(Ialltoallw)
(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
 void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
 MPI_Comm comm, MPI_Request* request) {
  return alltoallw(Form::started("MPI_Ialltoallw", comm, request),
                   {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                   {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes});
}

WEFT_MPI(Ialltoallw_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
 const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
 const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request) {
  return alltoallw(Form::started("MPI_Ialltoallw_c", comm, request),
                   {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                   {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes});
}

WEFT_MPI(Alltoallw_init)
(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
 void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return alltoallw(Form::kept("MPI_Alltoallw_init", comm, request),
                   {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                   {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes});
}

WEFT_MPI(Alltoallw_init_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
 const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
 const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return alltoallw(Form::kept("MPI_Alltoallw_init_c", comm, request),
                   {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
                   {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes});
}
// NOLINTEND(readability-function-size)
