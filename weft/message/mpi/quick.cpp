// SPDX-License-Identifier: Apache-2.0
#include "quick.hpp"

#include <algorithm>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/status.hpp>

namespace weft::mpi {

namespace {

// Valid, contiguous data; null if not, or if only the general path can tell.
struct Piece {
  Communicator* comm = nullptr;
  std::byte* data = nullptr;
  std::size_t size = 0;
};

Piece find_piece(Process& process, const TransferArguments& arguments) {
  if (process.timed || !process.running() || process.tuning != nullptr || arguments.count < 0 ||
      arguments.type == MPI_DATATYPE_NULL) {
    return {};
  }
  Communicator* const comm = find_communicator(process, arguments.comm);
  if (!comm || arguments.peer >= comm->peers().size()) return {};
  if (arguments.type != process.recent_type) {
    const Datatype* const type = find_type(arguments.type);
    if (!type || !type->predefined() || !type->contiguous(2)) return {};
    process.recent_type = arguments.type;
    process.recent_size = static_cast<std::size_t>(type->size());
  }
  std::int64_t size = 0;
  if (__builtin_mul_overflow(arguments.count, process.recent_size, &size)) return {};
  if (arguments.buffer == nullptr && size > 0) return {};
  return {comm, static_cast<std::byte*>(const_cast<void*>(arguments.buffer)),
          static_cast<std::size_t>(size)};
}

}  // namespace

bool send_quickly(const TransferArguments& arguments) {
  if (arguments.peer < 0 || arguments.tag < 0) return false;
  const Inside inside;
  Process& process = self();
  const Piece piece = find_piece(process, arguments);
  if (piece.comm == nullptr) return false;
  mp::Sending sending;
  sending.to = piece.comm->peers()[arguments.peer];
  sending.context = piece.comm->context_of(Communicator::Traffic::messages);
  sending.source = piece.comm->rank;
  sending.tag = arguments.tag;
  sending.data = piece.data;
  sending.size = piece.size;
  return process.messenger.send_now(sending);
}

std::optional<int> receive_quickly(const char* name, const TransferArguments& arguments,
                                   MPI_Status* status) {
  const bool any = arguments.peer == MPI_ANY_SOURCE;
  if ((arguments.peer < 0 && !any) || (arguments.tag < 0 && arguments.tag != MPI_ANY_TAG)) {
    return std::nullopt;
  }
  const Inside inside;
  Process& process = self();
  const Piece piece = find_piece(process, arguments);
  if (piece.comm == nullptr || piece.comm->revoked) return std::nullopt;
  mp::Receiving receiving;
  receiving.context = piece.comm->context_of(Communicator::Traffic::messages);
  receiving.source = source_for_matching(arguments.peer);
  receiving.tag = tag_for_matching(arguments.tag);
  if (!any) receiving.from = piece.comm->peers()[arguments.peer];
  receiving.data = piece.data;
  receiving.size = piece.size;
  mp::Request* const low = process.messenger.receive(receiving);
  if (!low->done) {
    process.call = name;
    process.wait_low(low, any ? piece.comm : nullptr);
    process.call = nullptr;
  }
  if (status) {
    const mp::Arrival& arrival = low->arrival;
    set_status(*status, arrival.source, arrival.tag,
               static_cast<std::int64_t>(std::min(arrival.size, piece.size)));
    set_status_cancelled(*status, false);
  }
  const bool given_up = !low->done;  // It may have waited for a rank that is lost.
  if (given_up) process.messenger.cancel(low);
  if (low->failed || low->arrival.truncated || given_up) {
    const mp::Arrival arrival = low->arrival;
    const bool failed = low->failed || given_up;
    process.messenger.release(low);
    Call call(name, Call::communicates);
    return call.result(piece.comm, failed ? piece.comm->failure() : MPI_ERR_TRUNCATE,
                       failed ? std::string()
                              : std::to_string(arrival.size) + " bytes from rank " +
                                    std::to_string(arrival.source) + " with tag " +
                                    std::to_string(arrival.tag) + ", room for " +
                                    std::to_string(piece.size));
  }
  process.messenger.release(low);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
