// SPDX-License-Identifier: Apache-2.0
// Initialisation, finalisation, time, and everything that belongs to no other object.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <pthread.h>

#include <weft/base/version.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/meeting.hpp>
#include <weft/message/mpi/recovery.hpp>

using weft::mpi::Call;
using weft::mpi::Process;

namespace {

void copy_text(const std::string& text, char* to, std::size_t room, int* length) {
  const std::size_t size = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), size);
  to[size] = '\0';
  if (length) *length = static_cast<int>(size);
}

// Ranks that others have asked for meet those in MPI_Init.
void meet_parent(Process& process) {
  weft::mpi::JobDesk* const desk = process.runtime.desk();
  if (desk == nullptr || !desk->parent()) return;
  weft::mpi::Encounter found;
  found.meeting = *desk->parent();
  weft::mpi::Communicator* const made = meet(process, process.world, 0, found);
  if (made == nullptr) {
    weft::mpi::end_job(process, found.error,
                       "rank " + std::to_string(process.rank().index) +
                           ": MPI_Init: the rank that asked for this process has ended");
  }
  made->name = "MPI_COMM_PARENT";
  process.parent = made->handle;
}

int begin(Call& call, int level) {
  Process& process = call.process();
  if (process.stage != Process::Stage::before) return call.result(MPI_ERR_OTHER, "called twice");
  // A session may have begun before, with more.
  process.thread_level = std::max(process.thread_level, level);
  if (!process.running()) process.main_thread = ::pthread_self();
  process.stage = Process::Stage::running;
  meet_parent(process);
  process.consider_losses();
  return MPI_SUCCESS;
}

// A barrier: no rank leaves before all that are not lost have arrived; the library's own
// obligations are finished first.
void internal_barrier(Process& process) {
  weft::mpi::InternalScope all = scope_of(process, process.world);
  if (process.world.revoked || process.run(all_max(all, {})) != 0) meet_survivors(process);
  if (!process.messenger.quiet()) process.wait_until([&] { return process.messenger.quiet(); });
}

}  // namespace

WEFT_MPI(Init)(int*, char***) {
  weft::mpi::self().runtime.join();
  Call call("MPI_Init", Call::always);
  return begin(call, MPI_THREAD_SINGLE);
}

WEFT_MPI(Init_thread)(int*, char***, int required, int* provided) {
  weft::mpi::self().runtime.join();
  Call call("MPI_Init_thread", Call::always);
  weft::mpi::Runtime& runtime = call.process().runtime;
  int level = std::clamp(required, MPI_THREAD_SINGLE, runtime.thread_level());
  if (level == MPI_THREAD_MULTIPLE && !runtime.admit_threads()) level = MPI_THREAD_SERIALIZED;
  if (provided) *provided = level;
  return begin(call, level);
}

// Any thread may ask, at every level; so nothing of the process is changed. The same is true of
// MPI_Finalized and MPI_Is_thread_main.
WEFT_MPI(Initialized)(int* flag) {
  *flag = weft::mpi::self().how_far() == Process::Stage::before ? 0 : 1;
  return MPI_SUCCESS;
}

WEFT_MPI(Finalize)(void) {
  Call call("MPI_Finalize", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (process.stage != Process::Stage::running) {
    return call.result(MPI_ERR_OTHER, process.stage == Process::Stage::before
                                          ? "called before MPI_Init"
                                          : "called after MPI_Finalize");
  }
  if (weft::mpi::Communicator* const self_only = process.self_only_if_made()) {
    const int error = self_only->attributes.clear(process, MPI_COMM_SELF);
    if (error != MPI_SUCCESS) return call.result(self_only, error);
  }
  process.stage = Process::Stage::finalizing;
  if (!process.connected.empty()) await(process, process.runtime.desk()->finalize());
  internal_barrier(process);
  process.stage = Process::Stage::after;
  if (process.leaves_at_exit) return MPI_SUCCESS;  // Sessions may go on, or begin.
  process.has_left = true;
  process.runtime.leave();
  return MPI_SUCCESS;
}

WEFT_MPI(Finalized)(int* flag) {
  *flag = weft::mpi::self().how_far() == Process::Stage::after ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Abort)(MPI_Comm, int errorcode) {
  Process& process = weft::mpi::self();
  const std::string line = "rank " + std::to_string(process.rank().index) +
                           ": MPI_Abort with error code " + std::to_string(errorcode);
  weft::mpi::end_job(process, errorcode, line);
}

WEFT_MPI(Query_thread)(int* provided) {
  Call call("MPI_Query_thread", Call::local);
  if (call.error()) return call.error();
  *provided = call.process().thread_level;
  return MPI_SUCCESS;
}

WEFT_MPI(Is_thread_main)(int* flag) {
  const auto* const process = static_cast<const Process*>(weft::Current::layer());
  // Where ranks are fibers, those of a worker have one thread, on which they stay.
  const bool others = process != nullptr && process->runtime.thread_level() > MPI_THREAD_FUNNELED;
  *flag = process != nullptr &&
          (!others || ::pthread_equal(process->main_thread, ::pthread_self()) != 0);
  return MPI_SUCCESS;
}

WEFT_MPI(Pcontrol)(const int, ...) {
  return MPI_SUCCESS;
}

WEFT_MPI(Get_version)(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

WEFT_MPI(Get_library_version)(char* version, int* resultlen) {
  copy_text("weft " + std::string(weft::version()), version, MPI_MAX_LIBRARY_VERSION_STRING,
            resultlen);
  return MPI_SUCCESS;
}

WEFT_MPI(Get_processor_name)(char* name, int* resultlen) {
  Call call("MPI_Get_processor_name", Call::local);
  if (call.error()) return call.error();
  Process& process = call.process();
  copy_text(process.runtime.processor_name(process.rank()), name, MPI_MAX_PROCESSOR_NAME,
            resultlen);
  return MPI_SUCCESS;
}

WEFT_MPI(Get_hw_resource_info)(MPI_Info* hw_info) {
  Call call("MPI_Get_hw_resource_info", Call::always);
  // A process never leaves its node.
  weft::mpi::InfoTable table;
  table.set(weft::mpi::node_resource, "true");
  *hw_info = make_info(call.process(), table);
  return MPI_SUCCESS;
}

WEFT_MPI(Abi_get_version)(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

WEFT_MPI(Abi_get_info)(MPI_Info* info) {
  Call call("MPI_Abi_get_info", Call::always);
  weft::mpi::InfoTable table;
  table.set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  table.set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
  table.set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  *info = make_info(call.process(), table);
  return MPI_SUCCESS;
}

// The sizes of Fortran types are fixed when the library is built: they can be queried, not changed.
WEFT_MPI(Abi_get_fortran_info)(MPI_Info* info) {
  Call call("MPI_Abi_get_fortran_info", Call::always);
  weft::mpi::InfoTable table;
  table.set("mpi_logical_size", "4");
  table.set("mpi_integer_size", "4");
  table.set("mpi_real_size", "4");
  table.set("mpi_double_precision_size", "8");
  *info = make_info(call.process(), table);
  return MPI_SUCCESS;
}

WEFT_MPI(Abi_set_fortran_info)(MPI_Info) {
  Call call("MPI_Abi_set_fortran_info", Call::always);
  return call.result(MPI_ERR_ABI, "the types of Fortran are fixed");
}

WEFT_MPI(Abi_get_fortran_booleans)
(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  Call call("MPI_Abi_get_fortran_booleans", Call::always);
  if (logical_size != 1 && logical_size != 2 && logical_size != 4 && logical_size != 8) {
    return call.result(MPI_ERR_ARG);
  }
  // All supported machines are little-endian.
  std::memset(logical_true, 0, static_cast<std::size_t>(logical_size));
  std::memset(logical_false, 0, static_cast<std::size_t>(logical_size));
  *static_cast<char*>(logical_true) = 1;
  *is_set = 1;
  return MPI_SUCCESS;
}

WEFT_MPI(Abi_set_fortran_booleans)(int, void*, void*) {
  Call call("MPI_Abi_set_fortran_booleans", Call::always);
  return call.result(MPI_ERR_ABI, "the types of Fortran are fixed");
}

WEFT_MPI_AS(double, Wtime)(void) {
  Process& process = weft::mpi::self();
  process.asked_time();
  return process.fabric.processor.now().since_start().in_seconds();
}

WEFT_MPI_AS(double, Wtick)(void) {
  return weft::mpi::self().runtime.tick();
}

WEFT_MPI(Alloc_mem)(MPI_Aint size, MPI_Info, void* baseptr) {
  Call call("MPI_Alloc_mem", Call::always);
  if (size < 0 || !baseptr) return call.result(MPI_ERR_ARG);
  void* memory = std::malloc(static_cast<std::size_t>(std::max<MPI_Aint>(size, 1)));
  if (!memory) return call.result(MPI_ERR_NO_MEM);
  *static_cast<void**>(baseptr) = memory;
  return MPI_SUCCESS;
}

WEFT_MPI(Free_mem)(void* base) {
  std::free(base);
  return MPI_SUCCESS;
}
