// SPDX-License-Identifier: Apache-2.0
// Probes, and receives of probed messages.
#include <optional>
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/status.hpp>
#include <weft/message/mpi/taken.hpp>
#include <weft/message/mpi/transfer.hpp>

using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Process;
using weft::mpi::Request;
using weft::mpi::TakenMessage;
using weft::mpi::TransferArguments;
namespace mp = weft::mp;

namespace {

struct Wanted {
  int source;
  int tag;
  MPI_Comm comm;
};

void tell_status(MPI_Status* status, const mp::Arrival& arrival) {
  if (!status) return;
  weft::mpi::set_status(*status, arrival.source, arrival.tag,
                        static_cast<std::int64_t>(arrival.size));
}

void tell_no_process(MPI_Status* status) {
  if (status) weft::mpi::set_status(*status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

// Why nothing that is wanted may ever come; success: it may.
int trouble(const Process& process, const Communicator& comm, int source) {
  if (comm.revoked) return MPI_ERR_REVOKED;
  const bool lost = source == MPI_ANY_SOURCE ? comm.any_source_in_doubt()
                                             : process.messenger.is_lost(comm.peers()[source]);
  return lost ? MPI_ERR_PROC_FAILED : MPI_SUCCESS;
}

// Probes once, or until there is a message or trouble. `Look` returns something like an optional.
template <typename Look>
auto look_for(Process& process, const Communicator& comm, const Wanted& wanted, bool blocks,
              Look look) {
  Request described;
  described.kind = Request::Kind::receive;
  described.transfer.comm = const_cast<Communicator*>(&comm);
  described.transfer.peer = wanted.source;
  described.transfer.tag = wanted.tag;
  const auto outer = std::exchange(process.waiting_for, {nullptr, nullptr, 0, &described});
  const auto glance = [&] {
    return look(comm.context_of(Communicator::Traffic::messages),
                weft::mpi::source_for_matching(wanted.source),
                weft::mpi::tag_for_matching(wanted.tag));
  };
  process.progress();
  auto found = glance();
  if (!found && blocks) {
    process.wait_until(
        [&] { return (found = glance()) || trouble(process, comm, wanted.source) != MPI_SUCCESS; });
  }
  process.waiting_for = outer;
  return found;
}

int probe(Call& call, const Wanted& wanted, int* flag, MPI_Status* status) {
  Communicator* comm = call.communicator(wanted.comm);
  if (!comm) return call.error();
  if (const int error =
          check_peer(call, *comm, wanted.source, wanted.tag, Request::Kind::receive)) {
    return error;
  }
  if (wanted.source == MPI_PROC_NULL) {
    if (flag) *flag = 1;
    tell_no_process(status);
    return MPI_SUCCESS;
  }
  Process& process = call.process();
  const std::optional<mp::Arrival> found = look_for(
      process, *comm, wanted, flag == nullptr, [&](mp::ContextId context, int source, int tag) {
        return process.messenger.probe(context, source, tag);
      });
  if (flag) *flag = found ? 1 : 0;
  if (found) {
    tell_status(status, *found);
    return MPI_SUCCESS;
  }
  if (const int error = trouble(process, *comm, wanted.source)) return call.result(comm, error);
  process.found_nothing();
  return MPI_SUCCESS;
}

int matched_probe(Call& call, const Wanted& wanted, int* flag, MPI_Message* message,
                  MPI_Status* status) {
  Communicator* comm = call.communicator(wanted.comm);
  if (!comm) return call.error();
  if (!message) return call.result(comm, MPI_ERR_ARG);
  if (const int error =
          check_peer(call, *comm, wanted.source, wanted.tag, Request::Kind::receive)) {
    return error;
  }
  if (wanted.source == MPI_PROC_NULL) {
    if (flag) *flag = 1;
    *message = MPI_MESSAGE_NO_PROC;
    tell_no_process(status);
    return MPI_SUCCESS;
  }
  Process& process = call.process();
  mp::UnexpectedRecord* found = look_for(process, *comm, wanted, flag == nullptr,
                                         [&](mp::ContextId context, int source, int tag) {
                                           return process.messenger.take(context, source, tag);
                                         });
  if (flag) *flag = found ? 1 : 0;
  *message = MPI_MESSAGE_NULL;
  if (!found) {
    if (const int error = trouble(process, *comm, wanted.source)) return call.result(comm, error);
    process.found_nothing();
    return MPI_SUCCESS;
  }
  tell_status(status, process.messenger.taken(found));
  comm->retain();
  *message = reinterpret_cast<MPI_Message>(process.taken.make(found, comm));
  return MPI_SUCCESS;
}

struct Data {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
};

// Checks the arguments and turns the message into a started receive that holds communicator and
// type.
int start_matched(Call& call, const Data& data, MPI_Message* message, Request*& started) {
  if (call.error()) return call.error();
  Process& process = call.process();
  TakenMessage* taken = message ? process.taken.find(*message) : nullptr;
  const bool no_process = message && *message == MPI_MESSAGE_NO_PROC;
  if (!taken && !no_process) return call.result(MPI_ERR_REQUEST, "no such message");
  Communicator& comm = taken ? *taken->comm : process.world;
  const TransferArguments arguments{data.buffer, data.count, data.type, 0, 0, MPI_COMM_NULL};
  if (const int error = check_data(call, comm, arguments)) return error;
  Request prepared;
  prepared.kind = Request::Kind::receive;
  prepared.transfer = {&comm,         data.buffer, data.count, weft::mpi::find_type(data.type),
                       MPI_PROC_NULL, 0,           {}};
  started = keep(process, std::move(prepared));
  if (taken) {
    started->transfer.peer = process.messenger.taken(taken->record).source;
    started->transfer.tag = process.messenger.taken(taken->record).tag;
    start_taken(process, *started, taken->record);
    call.add_bytes(size_of(started->transfer));
    process.taken.free(taken);
    release(process, &comm);
  } else {
    start(process, *started);
  }
  *message = MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

int matched_receive(const char* name, const Data& data, MPI_Message* message, MPI_Status* status) {
  Call call(name, Call::communicates);
  Request* request = nullptr;
  if (const int error = start_matched(call, data, message, request)) return error;
  const Request* waiting = request;
  wait_for(call.process(), &waiting, 1);
  finish(call.process(), *request);
  if (status) fill_status(*request, *status);
  const int error = call.result(request->transfer.comm, request->error, describe_error(*request));
  free_request(call.process(), request);
  return error;
}

int start_matched_receive(const char* name, const Data& data, MPI_Message* message,
                          MPI_Request* handle) {
  Call call(name, Call::communicates);
  Request* request = nullptr;
  if (const int error = start_matched(call, data, message, request)) return error;
  *handle = handle_of(request);
  return MPI_SUCCESS;
}

}  // namespace

WEFT_MPI(Probe)(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  Call call("MPI_Probe", Call::communicates);
  return probe(call, {source, tag, comm}, nullptr, status);
}

WEFT_MPI(Iprobe)(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  Call call("MPI_Iprobe", Call::communicates);
  if (!flag) return call.result(MPI_ERR_ARG);
  return probe(call, {source, tag, comm}, flag, status);
}

WEFT_MPI(Mprobe)(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  Call call("MPI_Mprobe", Call::communicates);
  return matched_probe(call, {source, tag, comm}, nullptr, message, status);
}

WEFT_MPI(Improbe)
(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Call call("MPI_Improbe", Call::communicates);
  if (!flag) return call.result(MPI_ERR_ARG);
  return matched_probe(call, {source, tag, comm}, flag, message, status);
}

#define WEFT_MATCHED_RECEIVES(count_type, suffix)                                                  \
  WEFT_MPI(Mrecv##suffix)                                                                          \
  (void* buf, count_type count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) { \
    return matched_receive("MPI_Mrecv" #suffix, {buf, count, datatype}, message, status);          \
  }                                                                                                \
  WEFT_MPI(Imrecv##suffix)                                                                         \
  (void* buf, count_type count, MPI_Datatype datatype, MPI_Message* message,                       \
   MPI_Request* request) {                                                                         \
    return start_matched_receive("MPI_Imrecv" #suffix, {buf, count, datatype}, message, request);  \
  }

WEFT_MATCHED_RECEIVES(int, )
WEFT_MATCHED_RECEIVES(MPI_Count, _c)
