// SPDX-License-Identifier: Apache-2.0
// Partitioned communication.
#include <memory>
#include <utility>

#include <weft/message/mpi/completion.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/partitioned.hpp>
#include <weft/message/mpi/transfer.hpp>

using weft::mpi::Call;
using weft::mpi::PartitionedReceive;
using weft::mpi::PartitionedSend;
using weft::mpi::Process;
using weft::mpi::Request;
using weft::mpi::TransferArguments;

namespace {

// Of the arguments beside those of a message.
struct More {
  int partitions;
  MPI_Info info;
  MPI_Request* request;
};

int check(Call& call, const TransferArguments& arguments, const More& more, Request& prepared,
          Request::Kind kind) {
  if (const int error = prepare(call, arguments, kind, prepared)) return error;
  const weft::mpi::Communicator* const comm = prepared.transfer.comm;
  if (arguments.peer == MPI_ANY_SOURCE) return call.result(comm, MPI_ERR_RANK, "MPI_ANY_SOURCE");
  if (arguments.tag == MPI_ANY_TAG) return call.result(comm, MPI_ERR_TAG, "MPI_ANY_TAG");
  if (more.partitions < 0 || !more.request) return call.result(comm, MPI_ERR_ARG);
  MPI_Count all = 0;
  if (__builtin_mul_overflow(arguments.count, more.partitions, &all) ||
      !prepared.transfer.type->fits(all)) {
    return call.result(comm, MPI_ERR_COUNT, prepared.transfer.type->too_many(arguments.count));
  }
  if (more.info != MPI_INFO_NULL && !find_info(call.process(), more.info)) {
    return call.result(comm, MPI_ERR_INFO);
  }
  return MPI_SUCCESS;
}

template <typename Side>
int make(const char* name, const TransferArguments& arguments, const More& more,
         Request::Kind kind) {
  Call call(name, Call::communicates);
  Request prepared;
  if (const int error = check(call, arguments, more, prepared, kind)) return error;
  Process& process = call.process();
  auto side = std::make_unique<Side>(
      process, weft::mpi::PartitionedArguments{prepared.transfer, more.partitions});
  *more.request = handle_of(keep_operation(process, *prepared.transfer.comm, std::move(side)));
  return MPI_SUCCESS;
}

// The operation behind a handle, or null.
template <typename Side>
Side* find(Process& process, MPI_Request handle, const Request** found = nullptr) {
  const Request* const request = find_request(process, handle);
  if (found) *found = request;
  return request ? dynamic_cast<Side*>(request->operation.get()) : nullptr;
}

// The partitions low, low + 1, …, high, or those of the list.
struct Chosen {
  int low, high;
  const int* list;
  int operator[](int i) const { return list ? list[i] : low + i; }
  int count() const { return high - low + 1; }
};

int ready(const char* name, const Chosen& chosen, MPI_Request handle) {
  Call call(name, Call::communicates);
  if (call.error()) return call.error();
  const Request* request = nullptr;
  auto* const send = find<PartitionedSend>(call.process(), handle, &request);
  if (!send) return call.result(MPI_ERR_REQUEST, "no partitioned send");
  const weft::mpi::Communicator* const comm = request->transfer.comm;
  if (!request->active) return call.result(comm, MPI_ERR_REQUEST, "not started");
  for (int i = 0; i < chosen.count(); ++i) {
    const int partition = chosen[i];
    if (partition < 0 || partition >= send->count()) {
      return call.result(
          comm, MPI_ERR_ARG,
          "partition " + std::to_string(partition) + " among " + std::to_string(send->count()));
    }
    if (send->is_ready(partition)) {
      return call.result(comm, MPI_ERR_ARG,
                         "partition " + std::to_string(partition) + " is ready already");
    }
    send->set_ready(partition);
  }
  call.process().progress();
  return MPI_SUCCESS;
}

}  // namespace

WEFT_MPI(Psend_init)
(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make<PartitionedSend>("MPI_Psend_init", {buf, count, datatype, dest, tag, comm},
                               {partitions, info, request}, Request::Kind::send);
}

WEFT_MPI(Precv_init)
(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make<PartitionedReceive>("MPI_Precv_init", {buf, count, datatype, source, tag, comm},
                                  {partitions, info, request}, Request::Kind::receive);
}

WEFT_MPI(Pready)(int partition, MPI_Request request) {
  return ready("MPI_Pready", {partition, partition, nullptr}, request);
}

WEFT_MPI(Pready_range)(int partition_low, int partition_high, MPI_Request request) {
  return ready("MPI_Pready_range", {partition_low, partition_high, nullptr}, request);
}

WEFT_MPI(Pready_list)(int length, const int array_of_partitions[], MPI_Request request) {
  if (length < 0 || (length > 0 && !array_of_partitions)) {
    Call call("MPI_Pready_list", Call::local);
    return call.error() ? call.error() : call.result(MPI_ERR_ARG, "the list");
  }
  return ready("MPI_Pready_list", {0, length - 1, array_of_partitions}, request);
}

WEFT_MPI(Parrived)(MPI_Request request, int partition, int* flag) {
  Call call("MPI_Parrived", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (!flag) return call.result(MPI_ERR_ARG);
  const Request* found = nullptr;
  auto* const receive = find<PartitionedReceive>(process, request, &found);
  if (!receive) return call.result(MPI_ERR_REQUEST, "no partitioned receive");
  if (partition < 0 || partition >= receive->count()) {
    return call.result(
        found->transfer.comm, MPI_ERR_ARG,
        "partition " + std::to_string(partition) + " among " + std::to_string(receive->count()));
  }
  *flag = 1;
  if (!found->active || is_done(*found)) return MPI_SUCCESS;
  process.progress();
  if (is_done(*found) || receive->has_arrived(partition)) return MPI_SUCCESS;
  *flag = 0;
  process.found_nothing();
  return MPI_SUCCESS;
}
