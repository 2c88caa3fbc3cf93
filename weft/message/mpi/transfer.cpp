// SPDX-License-Identifier: Apache-2.0
#include "transfer.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <weft/message/mpi/buffering.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/status.hpp>

namespace weft::mpi {

int check_peer(Call& call, const Communicator& comm, int peer, int tag, Request::Kind kind) {
  const bool receives = kind == Request::Kind::receive;
  const bool any_source = receives && peer == MPI_ANY_SOURCE;
  if (peer != MPI_PROC_NULL && !any_source && (peer < 0 || peer >= comm.peers().size())) {
    return call.result(&comm, MPI_ERR_RANK,
                       std::to_string(peer) + " among " + std::to_string(comm.peers().size()));
  }
  if (tag < 0 && !(receives && tag == MPI_ANY_TAG)) {
    return call.result(&comm, MPI_ERR_TAG, std::to_string(tag));
  }
  return MPI_SUCCESS;
}

int check_data(Call& call, const Communicator& comm, const TransferArguments& arguments) {
  if (arguments.count < 0) {
    return call.result(&comm, MPI_ERR_COUNT, std::to_string(arguments.count));
  }
  const Datatype* type = find_type(arguments.type);
  if (!type) return call.result(&comm, MPI_ERR_TYPE);
  if (!type->committed()) return call.result(&comm, MPI_ERR_TYPE, "not committed");
  if (!type->fits(arguments.count))
    return call.result(&comm, MPI_ERR_COUNT, type->too_many(arguments.count));
  // MPI_BOTTOM is the null pointer, which is valid if the type has absolute addresses.
  const bool nowhere = arguments.buffer == nullptr && arguments.count > 0 && type->size() > 0;
  if (nowhere && type->predefined()) return call.result(&comm, MPI_ERR_BUFFER, "null");
  return MPI_SUCCESS;
}

int prepare(Call& call, const TransferArguments& given, Request::Kind kind, Request& request) {
  // Nothing goes to or comes from nobody, so it need not have a type.
  TransferArguments arguments = given;
  if (given.peer == MPI_PROC_NULL && given.type == MPI_DATATYPE_NULL && given.count == 0) {
    arguments.type = MPI_BYTE;
  }
  Communicator* comm = call.communicator(arguments.comm);
  if (!comm) return call.error();
  if (const int error = check_data(call, *comm, arguments)) return error;
  if (const int error = check_peer(call, *comm, arguments.peer, arguments.tag, kind)) return error;
  request.kind = kind;
  Transfer& transfer = request.transfer;
  transfer.comm = comm;
  transfer.buffer = const_cast<void*>(arguments.buffer);
  transfer.count = arguments.count;
  transfer.type = find_type(arguments.type);
  transfer.peer = arguments.peer;
  transfer.tag = arguments.tag;
  if (arguments.peer != MPI_PROC_NULL) call.add_bytes(size_of(transfer));
  return MPI_SUCCESS;
}

std::size_t size_of(const Transfer& transfer) {
  return static_cast<std::size_t>(transfer.count) * static_cast<std::size_t>(transfer.type->size());
}

namespace {

// The address of contiguous data. Computed with integers, as the base may be null.
std::byte* piece(const Transfer& transfer) {
  const auto base = reinterpret_cast<std::uintptr_t>(transfer.buffer);
  const auto offset = static_cast<std::uintptr_t>(transfer.type->true_lower_bound());
  return reinterpret_cast<std::byte*>(base + offset);
}

void pack(Process& process, const Transfer& transfer, std::byte* to) {
  const std::size_t size = size_of(transfer);
  process.fabric.processor.copy(nullptr, nullptr, size);
  if (!process.fabric.carries_data) return;
  transfer.type->pack(transfer.buffer, transfer.count, 0, {to, size});
}

mp::Sending sending_of(const Process& process, const Transfer& transfer) {
  mp::Sending sending;
  sending.to = transfer.comm->peers()[transfer.peer];
  sending.context = transfer.comm->context_of(Communicator::Traffic::messages);
  sending.source = transfer.comm->rank;
  sending.tag = transfer.tag;
  sending.size = size_of(transfer);
  sending.synchronous = transfer.mode == SendMode::synchronous;
  sending.tuning = process.tuning;
  return sending;
}

void start_buffered(Process& process, Request& request) {
  const Transfer& transfer = request.transfer;
  mp::Sending sending = sending_of(process, transfer);
  Buffering* const buffering = buffering_of(process, *transfer.comm);
  const bool with_data = process.fabric.carries_data;
  BufferedSend* message = buffering ? buffering->reserve(sending.size, with_data) : nullptr;
  if (!message) {
    request.error = MPI_ERR_BUFFER;
    return;
  }
  std::byte* memory = buffering->memory_of(*message);
  pack(process, transfer, memory);
  sending.data = memory;
  message->low = process.messenger.send(sending);
  message->held = true;
  request.buffered = message;
}

void start_send(Process& process, Request& request) {
  const Transfer& transfer = request.transfer;
  mp::Sending sending = sending_of(process, transfer);
  if (transfer.type->contiguous(transfer.count)) {
    sending.data = piece(transfer);
  } else {
    if (process.fabric.carries_data) {
      request.staging = std::make_unique_for_overwrite<std::byte[]>(sending.size);
    }
    pack(process, transfer, request.staging.get());
    sending.data = request.staging.get();
  }
  mp::Request* const low = process.messenger.send(sending);
  if (!low->done || low->failed) {
    request.low = low;
    return;
  }
  // It has left: nothing need be remembered until the program asks.
  process.messenger.release(low);
  request.staging.reset();
}

mp::Receiving receiving_of(Process& process, Request& request) {
  const Transfer& transfer = request.transfer;
  mp::Receiving receiving;
  receiving.context = transfer.comm->context_of(Communicator::Traffic::messages);
  receiving.source = source_for_matching(transfer.peer);
  if (receiving.source != mp::any_source) receiving.from = transfer.comm->peers()[transfer.peer];
  receiving.tag = tag_for_matching(transfer.tag);
  receiving.size = size_of(transfer);
  if (transfer.type->contiguous(transfer.count)) {
    receiving.data = piece(transfer);
  } else {
    if (process.fabric.carries_data) {
      request.staging = std::make_unique_for_overwrite<std::byte[]>(receiving.size);
    }
    receiving.data = request.staging.get();
  }
  return receiving;
}

void unpack(Process& process, Request& request) {
  const Transfer& transfer = request.transfer;
  if (transfer.type->contiguous(transfer.count) || request.arrival.cancelled) return;
  const std::size_t size = std::min(request.arrival.size, size_of(transfer));
  process.fabric.processor.copy(nullptr, nullptr, size);
  if (!request.staging) return;
  transfer.type->unpack(transfer.buffer, transfer.count, 0,
                        std::span<const std::byte>(request.staging.get(), size));
}

void finish_low(Process& process, Request& request) {
  if (!request.low) return;
  const bool given_up = !request.low->done;  // Held up, in a call that blocks.
  if (given_up) process.messenger.cancel(request.low);
  request.arrival = request.low->arrival;
  if (given_up) request.arrival.cancelled = false;
  if (given_up || request.low->failed) request.error = request.transfer.comm->failure();
  if (request.kind == Request::Kind::receive) {
    if (request.arrival.truncated) request.error = MPI_ERR_TRUNCATE;
    if (!given_up) unpack(process, request);
  }
  process.messenger.release(request.low);
  request.low = nullptr;
  request.staging.reset();
}

void finish_buffered(Request& request) {
  if (!request.buffered) return;
  request.buffered->owner->sweep();
  request.arrival.cancelled = request.buffered->cancelled;
  request.buffered->held = false;
  request.buffered = nullptr;
}

}  // namespace

void start(Process& process, Request& request) {
  request.active = true;
  request.finished = request.kind == Request::Kind::generalized && request.finished;
  request.cancelling = false;
  request.error = MPI_SUCCESS;
  request.arrival = {};
  if (request.kind == Request::Kind::task) {
    request.task = request.operation->start();
    return;
  }
  const Transfer& transfer = request.transfer;
  if (transfer.peer == MPI_PROC_NULL) return;
  if (request.kind == Request::Kind::receive) {
    request.low = process.messenger.receive(receiving_of(process, request));
  } else if (transfer.mode == SendMode::buffered) {
    start_buffered(process, request);
  } else {
    start_send(process, request);
  }
}

void start_taken(Process& process, Request& request, mp::UnexpectedRecord* message) {
  request.active = true;
  request.low = process.messenger.receive_taken(message, receiving_of(process, request));
}

bool is_done(const Request& request) {
  if (!request.active || request.finished) return true;
  switch (request.kind) {
    case Request::Kind::task:
      return request.task.done();
    case Request::Kind::generalized:
      return false;
    default:
      break;
  }
  if (request.buffered) {
    const mp::Request* low = request.buffered->low;
    return !request.cancelling || !low || low->done;
  }
  return !request.low || request.low->done;
}

bool is_held_up(const Request& request) {
  return request.active && !request.finished && request.kind == Request::Kind::receive &&
         request.transfer.peer == MPI_ANY_SOURCE && request.low && !request.low->done &&
         !request.low->matched && request.transfer.comm->any_source_in_doubt();
}

mp::Request* low_of(const Request& request) {
  return request.buffered ? request.buffered->low : request.low;
}

void finish(Process& process, Request& request) {
  if (!request.active || request.finished) return;
  request.finished = true;
  if (request.kind == Request::Kind::task) {
    request.error = request.task.error();
    request.task = {};
    return;
  }
  finish_low(process, request);
  finish_buffered(request);
}

void fill_status(const Request& request, MPI_Status& status) {
  const Request* receive =
      request.operation && request.active ? request.operation->status_of() : nullptr;
  if (receive) {
    fill_status(*receive, status);
    return;
  }
  if (request.active && request.kind == Request::Kind::receive) {
    if (request.transfer.peer == MPI_PROC_NULL) {
      set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
      return;
    }
    const std::size_t size = std::min(request.arrival.size, size_of(request.transfer));
    set_status(status, request.arrival.source, request.arrival.tag,
               static_cast<std::int64_t>(size));
  } else {
    const bool moves = request.operation && request.active;
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moves ? request.operation->bytes() : 0);
  }
  set_status_cancelled(status, request.arrival.cancelled);
}

namespace {

std::string name_of(const Communicator& comm) {
  return comm.name.empty() ? "a communicator" : comm.name;
}

}  // namespace

std::string describe_error(const Request& request) {
  if (request.error == MPI_ERR_TRUNCATE && request.kind == Request::Kind::receive) {
    return std::to_string(request.arrival.size) + " bytes from rank " +
           std::to_string(request.arrival.source) + " with tag " +
           std::to_string(request.arrival.tag) + ", room for " +
           std::to_string(size_of(request.transfer));
  }
  if (request.error == MPI_ERR_BUFFER) {
    return "no room in the attached buffer for " + std::to_string(size_of(request.transfer)) +
           " bytes";
  }
  return {};
}

std::string describe(const Request& request, std::vector<RankId>* on) {
  const Transfer& transfer = request.transfer;
  switch (request.kind) {
    case Request::Kind::send:
      if (on) on->push_back(transfer.comm->peers()[transfer.peer]);
      return "a send of " + std::to_string(size_of(transfer)) + " bytes to rank " +
             std::to_string(transfer.peer) + " with tag " + std::to_string(transfer.tag) + " on " +
             name_of(*transfer.comm);
    case Request::Kind::receive: {
      std::string text = "a message from ";
      if (transfer.peer == MPI_ANY_SOURCE) {
        text += "any rank";
      } else {
        text += "rank " + std::to_string(transfer.peer);
        if (on) on->push_back(transfer.comm->peers()[transfer.peer]);
      }
      text += transfer.tag == MPI_ANY_TAG ? " with any tag"
                                          : " with tag " + std::to_string(transfer.tag);
      return text + " on " + name_of(*transfer.comm);
    }
    case Request::Kind::task:
      if (std::string own = request.operation ? request.operation->describe(on) : ""; !own.empty())
        return own;
      return "the other ranks of " + (transfer.comm ? name_of(*transfer.comm) : "the job");
    case Request::Kind::generalized:
      return "a generalized request";
  }
  return {};
}

void wait_for(Process& process, const Request* const* requests, int count) {
  const WaitingFor outer = std::exchange(process.waiting_for, {requests, nullptr, count, nullptr});
  for (int i = 0; i < count; ++i) {
    const auto settled = [&] { return is_done(*requests[i]) || is_held_up(*requests[i]); };
    if (!settled()) process.wait_until(settled);
  }
  process.waiting_for = outer;
}

Request* keep(Process& process, Request&& prepared) {
  process.fabric.processor.charge(Work::request);
  return store(process, std::move(prepared));
}

Request* store(Process& process, Request&& prepared) {
  Request* request = process.requests.make();
  *request = std::move(prepared);
  if (request->transfer.comm) request->transfer.comm->retain();
  if (request->transfer.type) request->transfer.type->retain();
  return request;
}

bool has_left(const Request& request) {
  return request.kind == Request::Kind::send && request.active && request.low == nullptr &&
         request.buffered == nullptr && !request.persistent;
}

MPI_Request hold_sent(Process& process) {
  if (process.sent == nullptr) {
    process.sent = process.requests.make();
    process.sent->active = process.sent->finished = true;
  }
  process.sent->orphan = false;
  ++process.sends_held;
  return handle_of(process.sent);
}

void free_request(Process& process, Request* request) {
  if (request == process.sent) {
    // An orphan's handle is no longer valid.
    if (process.sends_held > 0) request->orphan = --process.sends_held == 0;
    return;
  }
  if (request->buffered) request->buffered->held = false;
  if (request->transfer.type) Datatype::release(request->transfer.type);
  Communicator* comm = request->transfer.comm;
  process.requests.free(request);
  if (comm) release(process, comm);
}

Request* keep_operation(Process& process, Communicator& comm,
                        std::unique_ptr<Operation> operation) {
  Request prepared;
  prepared.kind = Request::Kind::task;
  prepared.persistent = true;
  prepared.transfer.comm = &comm;
  prepared.operation = std::move(operation);
  return keep(process, std::move(prepared));
}

Request* start_operation(Process& process, Communicator& comm,
                         std::unique_ptr<Operation> operation) {
  Request* request = keep_operation(process, comm, std::move(operation));
  request->persistent = false;
  start(process, *request);
  return request;
}

}  // namespace weft::mpi
