// SPDX-License-Identifier: Apache-2.0
// A collective operation has six entry points: blocking, non-blocking and persistent, each also
// with large counts. All treat their arguments alike, so one line defines them:
//
//   WEFT_COLLECTIVE(Bcast, Ibcast, WEFT_BCAST, bcast(form, {buffer, count, datatype}, root))
//
// where WEFT_BCAST(Count, Place) are the parameters before the communicator, given the types of
// counts and displacements.
#pragma once

#include <weft/message/mpi/coll_call.hpp>
#include <weft/message/mpi/errors.hpp>

// NOLINTBEGIN(bugprone-macro-parentheses): types and lists of parameters.
#define WEFT_COLLECTIVE(Name, Iname, PARAMETERS, ...)                  \
  WEFT_COLLECTIVE_AS(Name, Iname, , PARAMETERS(int, int), __VA_ARGS__) \
  WEFT_COLLECTIVE_AS(Name, Iname, _c, PARAMETERS(MPI_Count, MPI_Aint), __VA_ARGS__)

#define WEFT_COLLECTIVE_AS(Name, Iname, suffix, parameters, ...)                          \
  WEFT_MPI(Name##suffix)(parameters, MPI_Comm comm) {                                     \
    const auto form = weft::mpi::Form::blocking("MPI_" #Name #suffix, comm);              \
    return __VA_ARGS__;                                                                   \
  }                                                                                       \
  WEFT_MPI(Iname##suffix)(parameters, MPI_Comm comm, MPI_Request * request) {             \
    const auto form = weft::mpi::Form::started("MPI_" #Iname #suffix, comm, request);     \
    return __VA_ARGS__;                                                                   \
  }                                                                                       \
  WEFT_MPI(Name##_init##suffix)                                                           \
  (parameters, MPI_Comm comm, MPI_Info, MPI_Request * request) {                          \
    const auto form = weft::mpi::Form::kept("MPI_" #Name "_init" #suffix, comm, request); \
    return __VA_ARGS__;                                                                   \
  }

// Parameters: the same for every peer, different for each, of different types.
#define WEFT_SEND_EVEN(Count, Place) const void *sendbuf, Count sendcount, MPI_Datatype sendtype
#define WEFT_SEND_UNEVEN(Count, Place) \
  const void *sendbuf, const Count *sendcounts, const Place *sdispls, MPI_Datatype sendtype
#define WEFT_SEND_MIXED(Count, Place) \
  const void *sendbuf, const Count *sendcounts, const Place *sdispls, const MPI_Datatype *sendtypes
#define WEFT_RECEIVE_EVEN(Count, Place) void *recvbuf, Count recvcount, MPI_Datatype recvtype
#define WEFT_RECEIVE_UNEVEN(Count, Place) \
  void *recvbuf, const Count *recvcounts, const Place *rdispls, MPI_Datatype recvtype
#define WEFT_RECEIVE_MIXED(Count, Place) \
  void *recvbuf, const Count *recvcounts, const Place *rdispls, const MPI_Datatype *recvtypes

#define WEFT_EVEN(Count, Place) WEFT_SEND_EVEN(Count, Place), WEFT_RECEIVE_EVEN(Count, Place)
#define WEFT_TO_UNEVEN(Count, Place) WEFT_SEND_EVEN(Count, Place), WEFT_RECEIVE_UNEVEN(Count, Place)
#define WEFT_TO_EVEN(Count, Place) WEFT_SEND_UNEVEN(Count, Place), WEFT_RECEIVE_EVEN(Count, Place)
#define WEFT_UNEVEN(Count, Place) WEFT_SEND_UNEVEN(Count, Place), WEFT_RECEIVE_UNEVEN(Count, Place)
#define WEFT_MIXED(Count, Place) WEFT_SEND_MIXED(Count, Place), WEFT_RECEIVE_MIXED(Count, Place)
// NOLINTEND(bugprone-macro-parentheses)
