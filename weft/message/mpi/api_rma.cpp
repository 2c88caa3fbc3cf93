// SPDX-License-Identifier: Apache-2.0
// RMA accesses to windows.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/op.hpp>
#include <weft/message/mpi/request.hpp>
#include <weft/message/mpi/shared_window.hpp>
#include <weft/message/mpi/window.hpp>

using weft::mpi::Access;
using weft::mpi::Call;
using weft::mpi::Datatype;
using weft::mpi::Process;
using weft::mpi::RmaCommand;
using weft::mpi::Window;
namespace mp = weft::mp;

namespace {

struct Data {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
};
struct TargetRange {
  int rank;
  MPI_Aint displacement;
  MPI_Count count;
  MPI_Datatype type;
};

// Returns null and an error if the arguments are bad.
const Datatype* check(const Data& data, int& error) {
  const Datatype* type = weft::mpi::find_type(data.type);
  if (data.count < 0) error = MPI_ERR_COUNT;
  if (!type || !type->committed())
    error = MPI_ERR_TYPE;
  else if (error == MPI_SUCCESS && !type->fits(data.count))
    error = MPI_ERR_COUNT;
  return error == MPI_SUCCESS ? type : nullptr;
}

bool may_access(const Window& window, int rank) {
  if (window.fenced || window.all_locked) return true;
  if (window.started && std::count(window.started_with.begin(), window.started_with.end(), rank)) {
    return true;
  }
  return std::any_of(window.targets.begin(), window.targets.end(), [&](const auto& target) {
    return target.rank == rank && target.lock != Window::Lock::none;
  });
}

// Whether the standard allows compare-and-swap on the type.
bool swappable(const Datatype& type) {
  using weft::mpi::Element;
  const weft::mpi::BasicType* basic = type.predefined() ? type.basic() : nullptr;
  if (!basic) return false;
  const Element element = basic->element;
  return (element >= Element::byte && element <= Element::unsigned64) ||
         element >= Element::logical8;
}

class AccessOperation final : public weft::mpi::Operation {
 public:
  explicit AccessOperation(mp::Task task) : task_(std::move(task)) {}
  mp::Task start() override { return std::move(task_); }

 private:
  mp::Task task_;
};

// Builds one access step by step from its arguments, then starts it.
class Rma {
 public:
  Rma(const char* name, MPI_Win win, RmaCommand::Kind kind)
      : call_(name, Call::communicates), access_(std::make_unique<Access>()) {
    error_ = call_.error();
    if (error_ != MPI_SUCCESS) return;
    window_ = find_window(call_.process(), win);
    if (!window_) error_ = call_.result(MPI_ERR_WIN);
    access_->command.kind = kind;
  }

  Rma& origin(const Data& data) { return piece(data, access_->origin); }
  Rma& result(const Data& data) { return piece(data, access_->result); }
  Rma& compare(const void* value) {
    if (error_ != MPI_SUCCESS) return *this;
    if (!swappable(*access_->origin.type)) fail(MPI_ERR_TYPE);
    access_->compare = value;
    return *this;
  }
  Rma& target(const TargetRange& place) {
    if (error_ != MPI_SUCCESS) return *this;
    int error = MPI_SUCCESS;
    const Datatype* type = check({nullptr, place.count, place.type}, error);
    const bool nobody = place.rank == MPI_PROC_NULL;
    if (!nobody && (place.rank < 0 || place.rank >= window_->comm->size())) error = MPI_ERR_RANK;
    if (place.displacement < 0 && window_->flavor != MPI_WIN_FLAVOR_DYNAMIC) error = MPI_ERR_DISP;
    if (error == MPI_SUCCESS && !nobody && !may_access(*window_, place.rank)) {
      error = MPI_ERR_RMA_SYNC;
    }
    fail(error);
    if (error_ != MPI_SUCCESS) return *this;
    access_->target = place.rank;
    access_->command.displacement = place.displacement;
    access_->command.bytes = static_cast<std::uint64_t>(place.count * type->size());
    access_->blocks = blocks_of(*type, place.count);
    // A single block at offset 0 needs no list.
    if (access_->blocks.size() == 2 && access_->blocks[0] == 0) access_->blocks.clear();
    if (access_->command.bytes == 0) access_->blocks.clear();
    uniform_ = type->uniform();
    call_.add_bytes(access_->command.bytes);
    return *this;
  }
  Rma& op(MPI_Op handle) {
    if (error_ != MPI_SUCCESS) return *this;
    const weft::mpi::Op* op = weft::mpi::find_op(handle);
    if (!op || !op->predefined()) {
      fail(MPI_ERR_OP);
    } else if (!idle() && handle != MPI_REPLACE && handle != MPI_NO_OP) {
      fail(uniform_ ? op->check(*uniform_) : MPI_ERR_TYPE);
    }
    access_->command.op = reinterpret_cast<std::uintptr_t>(handle);
    if (uniform_) access_->command.type = reinterpret_cast<std::uintptr_t>(uniform_->handle());
    return *this;
  }

  int go() {
    if (error_ != MPI_SUCCESS || idle()) return error_;
    if (window_->shared()) return access_here();
    const int to = access_->target;
    mp::Task task = begin();
    if (!task.done()) window_->add_pending(to, std::move(task));
    return MPI_SUCCESS;
  }
  int go(MPI_Request* request) {
    if (error_ != MPI_SUCCESS) return error_;
    if (!request) return weft::mpi::result(call_, *window_, MPI_ERR_ARG);
    mp::Task task;
    if (!idle() && window_->shared()) {
      if (const int error = access_here()) return error;
    } else if (!idle()) {
      task = begin();
    }
    *request = handle_of(start_operation(call_.process(), *window_->comm,
                                         std::make_unique<AccessOperation>(std::move(task))));
    return MPI_SUCCESS;
  }

 private:
  Rma& piece(const Data& data, Access::Piece& to) {
    if (error_ != MPI_SUCCESS) return *this;
    int error = MPI_SUCCESS;
    const Datatype* type = check(data, error);
    fail(error);
    if (type) to = {const_cast<void*>(data.buffer), data.count, type};
    return *this;
  }
  // Nothing is moved, whatever the types are.
  bool idle() const { return access_->target == MPI_PROC_NULL || access_->command.bytes == 0; }
  void fail(int error) {
    if (error != MPI_SUCCESS) error_ = weft::mpi::result(call_, *window_, error);
  }
  int access_here() {
    const weft::mpi::OrderedMemory ordered;
    const int error = access_shared(call_.process(), *window_, *access_);
    const Window::Part& part = window_->common.parts[static_cast<std::size_t>(access_->target)];
    return weft::mpi::result(call_, *window_, error,
                             error == MPI_ERR_RMA_RANGE
                                 ? "outside of the " + std::to_string(part.size) +
                                       " bytes of rank " + std::to_string(access_->target)
                                 : "");
  }
  mp::Task begin() {
    Process& process = call_.process();
    Window::Target& target = window_->target(access_->target);
    if (window_->all_locked && target.lock == Window::Lock::none) {
      target.lock = Window::Lock::shared;
      target.locking = true;
      process.run(ask(process, *window_, access_->target, RmaCommand::Kind::lock_shared, true));
      target.locking = false;
    } else if (target.locking) {
      process.wait_until([&] { return !target.locking; });
    }
    target.touched = true;
    if (access_->origin.type) access_->origin.type->retain();
    if (access_->result.type) access_->result.type->retain();
    return perform(process, *window_, std::move(access_));
  }

  Call call_;
  int error_ = MPI_SUCCESS;
  Window* window_ = nullptr;
  std::unique_ptr<Access> access_;
  const Datatype* uniform_ = nullptr;
};

// MPI_NO_OP does not read the origin buffer.
Data origin_for(MPI_Op op, const Data& origin, const TargetRange& target) {
  if (op != MPI_NO_OP) return origin;
  return {nullptr, 0, target.type};
}

}  // namespace

#define WEFT_RMA(count_type, suffix)                                                            \
  WEFT_MPI(Put##suffix)                                                                         \
  (const void* buf, count_type count, MPI_Datatype type, int rank, MPI_Aint disp,               \
   count_type target_count, MPI_Datatype target_type, MPI_Win win) {                            \
    return Rma("MPI_Put" #suffix, win, RmaCommand::Kind::put)                                   \
        .origin({buf, count, type})                                                             \
        .target({rank, disp, target_count, target_type})                                        \
        .go();                                                                                  \
  }                                                                                             \
  WEFT_MPI(Rput##suffix)                                                                        \
  (const void* buf, count_type count, MPI_Datatype type, int rank, MPI_Aint disp,               \
   count_type target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {      \
    return Rma("MPI_Rput" #suffix, win, RmaCommand::Kind::put)                                  \
        .origin({buf, count, type})                                                             \
        .target({rank, disp, target_count, target_type})                                        \
        .go(request);                                                                           \
  }                                                                                             \
  WEFT_MPI(Get##suffix)                                                                         \
  (void* buf, count_type count, MPI_Datatype type, int rank, MPI_Aint disp,                     \
   count_type target_count, MPI_Datatype target_type, MPI_Win win) {                            \
    return Rma("MPI_Get" #suffix, win, RmaCommand::Kind::get)                                   \
        .result({buf, count, type})                                                             \
        .target({rank, disp, target_count, target_type})                                        \
        .go();                                                                                  \
  }                                                                                             \
  WEFT_MPI(Rget##suffix)                                                                        \
  (void* buf, count_type count, MPI_Datatype type, int rank, MPI_Aint disp,                     \
   count_type target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {      \
    return Rma("MPI_Rget" #suffix, win, RmaCommand::Kind::get)                                  \
        .result({buf, count, type})                                                             \
        .target({rank, disp, target_count, target_type})                                        \
        .go(request);                                                                           \
  }                                                                                             \
  WEFT_MPI(Accumulate##suffix)                                                                  \
  (const void* buf, count_type count, MPI_Datatype type, int rank, MPI_Aint disp,               \
   count_type target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {                 \
    return Rma("MPI_Accumulate" #suffix, win, RmaCommand::Kind::accumulate)                     \
        .origin({buf, count, type})                                                             \
        .target({rank, disp, target_count, target_type})                                        \
        .op(op)                                                                                 \
        .go();                                                                                  \
  }                                                                                             \
  WEFT_MPI(Raccumulate##suffix)                                                                 \
  (const void* buf, count_type count, MPI_Datatype type, int rank, MPI_Aint disp,               \
   count_type target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,                   \
   MPI_Request* request) {                                                                      \
    return Rma("MPI_Raccumulate" #suffix, win, RmaCommand::Kind::accumulate)                    \
        .origin({buf, count, type})                                                             \
        .target({rank, disp, target_count, target_type})                                        \
        .op(op)                                                                                 \
        .go(request);                                                                           \
  }                                                                                             \
  WEFT_MPI(Get_accumulate##suffix)                                                              \
  (const void* buf, count_type count, MPI_Datatype type, void* result, count_type result_count, \
   MPI_Datatype result_type, int rank, MPI_Aint disp, count_type target_count,                  \
   MPI_Datatype target_type, MPI_Op op, MPI_Win win) {                                          \
    const TargetRange place{rank, disp, target_count, target_type};                             \
    return Rma("MPI_Get_accumulate" #suffix, win, RmaCommand::Kind::fetch)                      \
        .origin(origin_for(op, {buf, count, type}, place))                                      \
        .result({result, result_count, result_type})                                            \
        .target(place)                                                                          \
        .op(op)                                                                                 \
        .go();                                                                                  \
  }                                                                                             \
  WEFT_MPI(Rget_accumulate##suffix)                                                             \
  (const void* buf, count_type count, MPI_Datatype type, void* result, count_type result_count, \
   MPI_Datatype result_type, int rank, MPI_Aint disp, count_type target_count,                  \
   MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request* request) {                    \
    const TargetRange place{rank, disp, target_count, target_type};                             \
    return Rma("MPI_Rget_accumulate" #suffix, win, RmaCommand::Kind::fetch)                     \
        .origin(origin_for(op, {buf, count, type}, place))                                      \
        .result({result, result_count, result_type})                                            \
        .target(place)                                                                          \
        .op(op)                                                                                 \
        .go(request);                                                                           \
  }

WEFT_RMA(int, )
WEFT_RMA(MPI_Count, _c)

WEFT_MPI(Fetch_and_op)
(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
 MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  const TargetRange place{target_rank, target_disp, 1, datatype};
  return Rma("MPI_Fetch_and_op", win, RmaCommand::Kind::fetch)
      .origin(origin_for(op, {origin_addr, 1, datatype}, place))
      .result({result_addr, 1, datatype})
      .target(place)
      .op(op)
      .go();
}

WEFT_MPI(Compare_and_swap)
(const void* origin_addr, const void* compare_addr, void* result_addr, MPI_Datatype datatype,
 int target_rank, MPI_Aint target_disp, MPI_Win win) {
  return Rma("MPI_Compare_and_swap", win, RmaCommand::Kind::swap)
      .origin({origin_addr, 1, datatype})
      .compare(compare_addr)
      .result({result_addr, 1, datatype})
      .target({target_rank, target_disp, 1, datatype})
      .go();
}
