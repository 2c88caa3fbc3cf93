// SPDX-License-Identifier: Apache-2.0
// Sends: four modes, each blocking, non-blocking and persistent, with small and large counts.
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/quick.hpp>
#include <weft/message/mpi/transfer.hpp>

using weft::mpi::Call;
using weft::mpi::Process;
using weft::mpi::Request;
using weft::mpi::SendMode;
using weft::mpi::TransferArguments;

namespace {

int send(const char* name, const TransferArguments& arguments, SendMode mode) {
  if (mode == SendMode::standard && weft::mpi::send_quickly(arguments)) return MPI_SUCCESS;
  Call call(name, Call::communicates);
  Request request;
  if (const int error = prepare(call, arguments, Request::Kind::send, request)) return error;
  request.transfer.mode = mode;
  start(call.process(), request);
  const Request* waiting = &request;
  wait_for(call.process(), &waiting, 1);
  finish(call.process(), request);
  return call.result(request.transfer.comm, request.error, describe_error(request));
}

int make_send(const char* name, const TransferArguments& arguments, Request&& request,
              MPI_Request* handle) {
  Call call(name, Call::communicates);
  const SendMode mode = request.transfer.mode;
  if (const int error = prepare(call, arguments, Request::Kind::send, request)) return error;
  request.transfer.mode = mode;
  if (!handle) return call.result(request.transfer.comm, MPI_ERR_ARG);
  Process& process = call.process();
  process.fabric.processor.charge(weft::Work::request);
  if (!request.persistent) {
    start(process, request);
    if (request.error != MPI_SUCCESS)
      return call.result(request.transfer.comm, request.error, describe_error(request));
  }
  *handle = has_left(request) ? hold_sent(process) : handle_of(store(process, std::move(request)));
  return MPI_SUCCESS;
}

Request fresh(SendMode mode, bool persistent) {
  Request request;
  request.transfer.mode = mode;
  request.persistent = persistent;
  return request;
}

}  // namespace

#define WEFT_SENDS(name, iname, mode, count_type, suffix)                                        \
  WEFT_MPI(name##suffix)                                                                         \
  (const void* buf, count_type count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) { \
    return send("MPI_" #name #suffix, {buf, count, datatype, dest, tag, comm}, mode);            \
  }                                                                                              \
  WEFT_MPI(iname##suffix)                                                                        \
  (const void* buf, count_type count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,   \
   MPI_Request* request) {                                                                       \
    return make_send("MPI_" #iname #suffix, {buf, count, datatype, dest, tag, comm},             \
                     fresh(mode, false), request);                                               \
  }                                                                                              \
  WEFT_MPI(name##_init##suffix)                                                                  \
  (const void* buf, count_type count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,   \
   MPI_Request* request) {                                                                       \
    return make_send("MPI_" #name "_init" #suffix, {buf, count, datatype, dest, tag, comm},      \
                     fresh(mode, true), request);                                                \
  }

WEFT_SENDS(Send, Isend, SendMode::standard, int, )
WEFT_SENDS(Send, Isend, SendMode::standard, MPI_Count, _c)
WEFT_SENDS(Bsend, Ibsend, SendMode::buffered, int, )
WEFT_SENDS(Bsend, Ibsend, SendMode::buffered, MPI_Count, _c)
WEFT_SENDS(Ssend, Issend, SendMode::synchronous, int, )
WEFT_SENDS(Ssend, Issend, SendMode::synchronous, MPI_Count, _c)
WEFT_SENDS(Rsend, Irsend, SendMode::ready, int, )
WEFT_SENDS(Rsend, Irsend, SendMode::ready, MPI_Count, _c)
