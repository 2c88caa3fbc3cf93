// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/window.hpp>

namespace weft::mpi {

namespace {

// A listener follows one thread, whose calls do not overlap.
CallListener* listener_of(const Process& process) {
  const bool follows =
      CallLock::active() == nullptr || ::pthread_equal(process.main_thread, ::pthread_self()) != 0;
  return follows ? process.profile.listener : nullptr;
}

}  // namespace

void Inside::help_waiters(CallLock& lock) {
  if (lock.outermost() && lock.waiters_need_help()) self().help_waiters(lock);
}

Call::Call(const char* name, Kind kind) : process_(self()), outer_(process_.call), kind_(kind) {
  if (process_.timed) {
    start_ = process_.fabric.processor.now();
    CallListener* const listener = listener_of(process_);
    if (listener && kind == communicates && !outer_) listener->entered(name, start_);
  }
  process_.call = name;
  if (!outer_) process_.entered = start_;
  if (kind == always) return;
  if (!process_.running()) {
    const bool early = process_.stage == Process::Stage::before;
    error_ = result(MPI_ERR_OTHER, early ? "called before MPI_Init" : "called after MPI_Finalize");
  } else if (kind == communicates) {
    process_.fabric.processor.enter_call();
  }
}

Call::~Call() {
  // A call from a callback of the program that the library invoked belongs to the outer call.
  if (kind_ == communicates && !outer_) {
    if (process_.timed) {
      const Time now = process_.fabric.processor.now();
      process_.profile.add(process_.call, now - start_, bytes_);
      if (CallListener* const listener = listener_of(process_)) {
        listener->left(process_.call, now);
      }
    }
    process_.fabric.processor.leave_call();
  }
  process_.call = outer_;
}

Communicator* Call::communicator(MPI_Comm handle) {
  if (error_ != MPI_SUCCESS) return nullptr;
  Communicator* comm = find_communicator(process_, handle);
  if (!comm) {
    error_ = result(MPI_ERR_COMM, handle == MPI_COMM_NULL ? "MPI_COMM_NULL" : "no such handle");
  }
  return comm;
}

Window* Call::window(MPI_Win handle) {
  if (error_ != MPI_SUCCESS) return nullptr;
  Window* window = find_window(process_, handle);
  if (!window) error_ = result(MPI_ERR_WIN);
  return window;
}

int Call::result(const Communicator* comm, int code, const std::string& detail) {
  if (code == MPI_SUCCESS) return code;
  const Communicator& owner = comm ? *comm : default_communicator(process_);
  return raise(process_, owner.handler, owner.handle, code, detail);
}

int report(MPI_Comm comm_or_null, int error_class) {
  if (error_class == MPI_SUCCESS) return error_class;
  const Inside inside;
  Process& process = self();
  const Communicator* comm = find_communicator(process, comm_or_null);
  const Communicator& owner = comm ? *comm : default_communicator(process);
  return raise(process, owner.handler, owner.handle, error_class, {});
}

}  // namespace weft::mpi
