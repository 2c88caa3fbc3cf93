// SPDX-License-Identifier: Apache-2.0
#include "coll_call.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <weft/message/coll/choose.hpp>
#include <weft/message/mpi/topology.hpp>

namespace weft::mpi {

namespace {

int code_of(const Communicator& comm, int error) {
  switch (error) {
    case coll::ok:
      return MPI_SUCCESS;
    case coll::truncated:
      return MPI_ERR_TRUNCATE;
    case coll::incomplete:
      return MPI_ERR_OTHER;
    default:
      return comm.failure();
  }
}

// The grid of the members: as the program declared it, if useful, or as the machine places them.
const coll::Grid* grid_of(const Process& process, const Communicator& comm) {
  const coll::Choices* choices = process.choices;
  if (!choices) return nullptr;
  const bool known = !choices->machine().extents.empty();
  if (!known && !choices->forces(coll::Algorithm::bucket)) return nullptr;
  if (comm.topology && comm.topology->grid()) return comm.topology->grid();
  return known && comm.local == process.world.local ? &choices->machine() : nullptr;
}

// Which members are near each other, if collectives can make use of it.
const Groups* groups_of(const Process& process, Communicator& comm) {
  const coll::Choices* choices = process.choices;
  if (!choices || !choices->groups()) return nullptr;
  if (!comm.worlds.empty()) return nullptr;  // Ranks that came later know of no groups.
  if (!choices->may_bundle_by_group() && !choices->forces(coll::Algorithm::groups)) return nullptr;
  const Groups* groups = choices->groups();
  if (comm.local != process.world.local) {
    if (!comm.groups) {
      std::vector<std::uint32_t> each;
      for (int i = 0; i < comm.size(); ++i) each.push_back(groups->group(comm.local[i].index));
      comm.groups = std::make_unique<const Groups>(each);
    }
    groups = comm.groups.get();
  }
  return groups->count() > 1 && groups->count() < groups->total() ? groups : nullptr;
}

// Runs to completion; meanwhile a deadlock report can say what this rank waits for.
int run_shown(Process& process, Collective& operation) {
  Request shown;
  shown.kind = Request::Kind::task;
  shown.active = true;
  shown.transfer.comm = &operation.comm;
  shown.task = operation.start();
  const Request* const requests[] = {&shown};
  const WaitingFor outer = std::exchange(process.waiting_for, {requests, nullptr, 1, nullptr});
  const int code = process.run(shown.task);
  process.waiting_for = outer;
  return code;
}

}  // namespace

coll::Team Collective::team() const {
  using Traffic = Communicator::Traffic;
  const auto context = comm.context_of(comm.inter ? Traffic::local : Traffic::collectives);
  return {.m = process.messenger,
          .context = context,
          .rank = comm.rank,
          .members = comm.local,
          .tag = tag,
          .grid = comm.inter ? nullptr : grid_of(process, comm),
          .choices = process.choices,
          .groups = comm.inter ? nullptr : groups_of(process, comm),
          .carried = carried};
}

coll::Bridge Collective::bridge() const {
  return {team(), comm.remote, comm.context_of(Communicator::Traffic::collectives)};
}

mp::Task Collective::steps(Collective& self) {
  Process& process = self.process;
  const bool carries = self.carried || process.fabric.carries_data;
  self.send.load(process, carries);
  if (self.in_place || self.loads_receive) {
    self.receive.load(process, carries);
  } else {
    self.receive.clear(carries);
  }
  mp::Task work = self.begin(self);
  const int error = co_await work;
  if (self.stores && self.result_elements >= 0) {
    self.receive.store(process, self.result_elements);
  } else if (self.stores) {
    self.receive.store(process);
  }
  co_return code_of(self.comm, error);
}

CollectiveCall::CollectiveCall(const Form& form)
    : form_(form), call_(form.name, Call::communicates) {
  comm_ = call_.communicator(form.comm);
  error_ = call_.error();
  if (!comm_) return;
  if (comm_->revoked) {
    fail(MPI_ERR_REVOKED);
    return;
  }
  if (form.kind != Form::Kind::blocking && !form.request) {
    fail(MPI_ERR_ARG, "no place for the request");
    return;
  }
  call_.process().fabric.processor.charge(Work::collective);
  operation_ = std::make_unique<Collective>(call_.process(), *comm_);
}

void CollectiveCall::fail(int code, const std::string& detail) {
  if (error_ == MPI_SUCCESS) error_ = call_.result(comm_, code, detail);
  // A handler that hides the error from the program must not hide it from us.
  if (error_ == MPI_SUCCESS) error_ = code;
}

void CollectiveCall::root(int root) {
  if (failed()) return;
  using Role = coll::BridgeRoot::Role;
  if (root >= 0 && root < peers()) {
    operation_->root = root;
    operation_->bridge_root = {Role::across, root};
  } else if (inter() && root == MPI_ROOT) {
    operation_->bridge_root = {Role::root, 0};
  } else if (inter() && root == MPI_PROC_NULL) {
    operation_->bridge_root = {Role::beside, 0};
  } else {
    fail(MPI_ERR_ROOT, std::to_string(root) + " among " + std::to_string(peers()));
  }
}

bool CollectiveCall::check_type(MPI_Datatype handle) {
  const Datatype* type = find_type(handle);
  if (!type) {
    fail(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "no such handle");
  } else if (!type->committed()) {
    fail(MPI_ERR_TYPE, "not committed");
  }
  return !failed();
}

void CollectiveCall::check_buffer(const void* buffer, std::int64_t count, const Datatype& type) {
  if (buffer == MPI_IN_PLACE) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE has no meaning here");
    return;
  }
  // MPI_BOTTOM is the null pointer, which is valid if the type has absolute addresses. And without
  // data there need not be a buffer.
  const bool nowhere = buffer == nullptr && count > 0 && type.size() > 0 && type.predefined();
  if (nowhere && call_.process().fabric.carries_data) fail(MPI_ERR_BUFFER, "null");
}

void CollectiveCall::check(const Piece& piece, int blocks) {
  if (piece.count < 0) {
    fail(MPI_ERR_COUNT, std::to_string(piece.count));
    return;
  }
  if (!check_type(piece.type)) return;
  const Datatype& type = *find_type(piece.type);
  std::int64_t all = 0;
  if (__builtin_mul_overflow(piece.count, std::max(blocks, 1), &all) || !type.fits(all)) {
    fail(MPI_ERR_COUNT, type.too_many(piece.count));
    return;
  }
  check_buffer(piece.buffer, piece.count, type);
}

void CollectiveCall::check(const Pieces& pieces, int blocks) {
  if (blocks > 0 && (pieces.counts.missing() || pieces.displacements.missing())) {
    fail(MPI_ERR_ARG, "counts or displacements are null");
    return;
  }
  if (!pieces.types && !check_type(pieces.type)) return;
  std::int64_t bytes = 0;
  for (int i = 0; i < blocks; ++i) {
    const std::int64_t count = pieces.counts[i];
    if (count < 0) fail(MPI_ERR_COUNT, std::to_string(count));
    if (failed() || (pieces.types && !check_type(pieces.types[i]))) return;
    const Datatype& type = *find_type(pieces.types ? pieces.types[i] : pieces.type);
    std::int64_t offset = 0;
    if (!type.fits(count) || __builtin_add_overflow(bytes, count * type.size(), &bytes) ||
        __builtin_mul_overflow(pieces.displacements[i], pieces.types ? 1 : type.extent(),
                               &offset)) {
      fail(MPI_ERR_COUNT, type.too_many(count) + " with the others");
      return;
    }
    if (pieces.types) continue;  // MPI_BOTTOM, with absolute addresses as displacements.
    check_buffer(pieces.buffer, count, type);
    if (failed()) return;
  }
  if (pieces.buffer == MPI_IN_PLACE) fail(MPI_ERR_BUFFER, "MPI_IN_PLACE has no meaning here");
}

void CollectiveCall::send(const Piece& piece, int blocks) {
  if (!failed()) check(piece, blocks);
  if (failed()) return;
  operation_->send.set(piece, blocks);
  send_buffer_ = piece.buffer;
}

void CollectiveCall::send(const Pieces& pieces, int blocks) {
  if (!failed()) check(pieces, blocks);
  if (failed()) return;
  operation_->send.set(pieces, blocks);
  send_buffer_ = pieces.buffer;
}

void CollectiveCall::receive(const Piece& piece, int blocks) {
  if (!failed()) check(piece, blocks);
  if (failed()) return;
  operation_->receive.set(piece, blocks);
  receive_buffer_ = piece.buffer;
}

void CollectiveCall::receive(const Pieces& pieces, int blocks) {
  if (!failed()) check(pieces, blocks);
  if (failed()) return;
  operation_->receive.set(pieces, blocks);
  receive_buffer_ = pieces.buffer;
}

void CollectiveCall::set_in_place() {
  if (!failed()) operation_->in_place = true;
}

void CollectiveCall::reduction(MPI_Op handle, MPI_Datatype type) {
  if (failed()) return;
  const Op* op = find_op(handle);
  if (!op) {
    fail(MPI_ERR_OP, handle == MPI_OP_NULL ? "MPI_OP_NULL" : "no such handle");
    return;
  }
  if (!check_type(type)) return;
  if (const int code = op->check(*find_type(type))) {
    fail(code, "the operator is not defined for the type");
    return;
  }
  operation_->reduction.set(*op, *find_type(type));
}

void CollectiveCall::no_inter() {
  if (!failed() && inter()) fail(MPI_ERR_COMM, "an intercommunicator");
}

void CollectiveCall::agree(std::size_t sent, std::size_t received) {
  if (failed() || operation_->in_place || sent == received) return;
  fail(MPI_ERR_TRUNCATE,
       "sends " + std::to_string(sent) + " bytes where " + std::to_string(received) + " are due");
}

void CollectiveCall::apart(int own) {
  if (failed() || operation_->in_place || !send_buffer_) return;
  if (operation_->send.total() == 0 || operation_->receive.total() == 0) return;
  const bool same =
      send_buffer_ == receive_buffer_ || send_buffer_ == operation_->receive.place(own);
  if (same && call_.process().fabric.carries_data) {
    fail(MPI_ERR_BUFFER, "one buffer for sending and receiving; MPI_IN_PLACE is meant for this");
  }
}

void CollectiveCall::carry_if_small() {
  constexpr std::size_t always_carried_max = 64;
  if (failed() || inter()) return;
  Collective& c = *operation_;
  const std::size_t bytes = std::max(c.send.total(), c.receive.total());
  // Programs that are made for simulations alone may have no buffers, or one for both sides.
  const bool apart = send_buffer_ == nullptr || send_buffer_ != receive_buffer_;
  c.carried =
      bytes <= always_carried_max && apart && c.send.is_somewhere() && c.receive.is_somewhere();
}

int CollectiveCall::launch(Collective::Begin begin) {
  if (failed()) return error_;
  Process& process = call_.process();
  operation_->begin = begin;
  // Persistent ones too: all ranks create them in the same order but may start them in any.
  operation_->tag = comm_->next_collective_tag();
  call_.add_bytes(operation_->in_place ? operation_->receive.total() : operation_->send.total());
  if (form_.kind == Form::Kind::blocking) {
    const int code = run_shown(process, *operation_);
    const bool disagree = code == MPI_ERR_TRUNCATE || code == MPI_ERR_OTHER;
    return call_.result(comm_, code,
                        disagree ? "ranks disagree about the operation or its sizes" : "");
  }
  if (form_.kind == Form::Kind::kept) {
    operation_->send.keep_arrays();
    operation_->receive.keep_arrays();
  }
  Request* const request = form_.kind == Form::Kind::started
                               ? start_operation(process, *comm_, std::move(operation_))
                               : keep_operation(process, *comm_, std::move(operation_));
  *form_.request = handle_of(request);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
