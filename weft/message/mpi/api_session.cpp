// SPDX-License-Identifier: Apache-2.0
// Sessions: their beginning and end, process sets, hints, error handlers.
#include <algorithm>
#include <cstring>
#include <string>

#include <pthread.h>

#include <weft/message/mpi/buffering.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/session.hpp>

using weft::mpi::Call;
using weft::mpi::ErrorHandler;
using weft::mpi::InfoTable;
using weft::mpi::Process;
using weft::mpi::Session;

namespace {

// Null: an error has been reported; return it.
Session* find_session(Call& call, MPI_Session handle, int& error) {
  error = call.error();
  if (error != MPI_SUCCESS) return nullptr;
  Session* const session = call.process().sessions.find(handle);
  if (!session) {
    error = call.result(MPI_ERR_SESSION,
                        handle == MPI_SESSION_NULL ? "MPI_SESSION_NULL" : "no such handle");
  }
  return session;
}

// The level of threads that the hints ask for, as far as it can be promised.
int thread_level_for(Process& process, const InfoTable* hints) {
  const std::string* const wanted = hints ? hints->find("thread_level") : nullptr;
  const int asked =
      wanted ? weft::mpi::thread_level_of(*wanted).value_or(MPI_THREAD_SINGLE) : MPI_THREAD_SINGLE;
  weft::mpi::Runtime& runtime = process.runtime;
  int level = std::clamp(asked, MPI_THREAD_SINGLE, runtime.thread_level());
  const bool more = level == MPI_THREAD_MULTIPLE && process.thread_level != level;
  if (more && !runtime.admit_threads()) level = MPI_THREAD_SERIALIZED;
  return level;
}

int begin(Call& call, const InfoTable* hints, MPI_Errhandler handler, MPI_Session* session) {
  Process& process = call.process();
  if (process.has_left) {
    return call.result(MPI_ERR_OTHER,
                       "the first session begins before MPI_Finalize, or without it");
  }
  if (!process.running() && process.stage == Process::Stage::before) {
    process.main_thread = ::pthread_self();
  }
  process.thread_level = std::max(process.thread_level, thread_level_for(process, hints));
  Session* const made = process.sessions.make();
  made->handler = handler;
  retain_handler(process, handler);
  made->info.set("thread_level", weft::mpi::name_of_thread_level(process.thread_level));
  ++process.open_sessions;
  process.consider_losses();
  if (!process.leaves_at_exit) process.runtime.leave_at_exit();
  process.leaves_at_exit = true;
  *session = reinterpret_cast<MPI_Session>(made);
  return MPI_SUCCESS;
}

// Copies as much as there is room for; a length of 0 only asks for the length.
void give_name(const std::string_view name, int* length, char* to) {
  if (*length > 0 && to) {
    const std::size_t size = std::min(name.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(to, name.data(), size);
    to[size] = '\0';
  }
  *length = static_cast<int>(name.size()) + 1;
}

}  // namespace

WEFT_MPI(Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  weft::mpi::self().runtime.join();
  Call call("MPI_Session_init", Call::always);
  Process& process = call.process();
  if (!session) return call.result(MPI_ERR_ARG);
  const InfoTable* const hints = info == MPI_INFO_NULL ? nullptr : find_info(process, info);
  if (info != MPI_INFO_NULL && !hints) return call.result(MPI_ERR_INFO);
  if (!valid_handler(process, errhandler, ErrorHandler::Kind::session)) {
    return call.result(MPI_ERR_ERRHANDLER);
  }
  return begin(call, hints, errhandler, session);
}

WEFT_MPI(Session_finalize)(MPI_Session* session) {
  Call call("MPI_Session_finalize", Call::communicates);
  int error = MPI_SUCCESS;
  if (!session) return call.error() ? call.error() : call.result(MPI_ERR_ARG);
  Session* const found = find_session(call, *session, error);
  if (!found) return error;
  Process& process = call.process();
  if (weft::mpi::Buffering* const buffering = found->buffering.get()) {
    process.wait_until([&] { return buffering->sent(); });
  }
  // Nobody calls the library any more to finish what is under way.
  const bool last = process.open_sessions == 1 && process.stage != Process::Stage::running;
  if (last) process.wait_until([&] { return process.messenger.quiet(); });
  release_handler(process, found->handler);
  process.sessions.free(found);
  --process.open_sessions;
  process.consider_losses();
  *session = MPI_SESSION_NULL;
  return MPI_SUCCESS;
}

WEFT_MPI(Session_get_num_psets)(MPI_Session session, MPI_Info, int* npset_names) {
  Call call("MPI_Session_get_num_psets", Call::local);
  int error = MPI_SUCCESS;
  if (!find_session(call, session, error)) return error;
  if (!npset_names) return result(call, session, MPI_ERR_ARG);
  *npset_names = static_cast<int>(weft::mpi::process_sets.size());
  return MPI_SUCCESS;
}

WEFT_MPI(Session_get_nth_pset)
(MPI_Session session, MPI_Info, int n, int* pset_len, char* pset_name) {
  Call call("MPI_Session_get_nth_pset", Call::local);
  int error = MPI_SUCCESS;
  if (!find_session(call, session, error)) return error;
  if (!pset_len || *pset_len < 0 || n < 0 ||
      n >= static_cast<int>(weft::mpi::process_sets.size())) {
    return result(call, session, MPI_ERR_ARG);
  }
  give_name(weft::mpi::process_sets[static_cast<std::size_t>(n)], pset_len, pset_name);
  return MPI_SUCCESS;
}

WEFT_MPI(Session_get_pset_info)(MPI_Session session, const char* pset_name, MPI_Info* info) {
  Call call("MPI_Session_get_pset_info", Call::local);
  int error = MPI_SUCCESS;
  if (!find_session(call, session, error)) return error;
  if (!pset_name || !info) return result(call, session, MPI_ERR_ARG);
  const auto members = weft::mpi::find_process_set(call.process(), pset_name);
  if (!members) return result(call, session, MPI_ERR_ARG, "no such process set");
  InfoTable table;
  table.set("mpi_size", std::to_string(members->size()));
  *info = make_info(call.process(), table);
  return MPI_SUCCESS;
}

WEFT_MPI(Session_get_info)(MPI_Session session, MPI_Info* info_used) {
  Call call("MPI_Session_get_info", Call::local);
  int error = MPI_SUCCESS;
  const Session* const found = find_session(call, session, error);
  if (!found) return error;
  if (!info_used) return result(call, session, MPI_ERR_ARG);
  *info_used = make_info(call.process(), found->info);
  return MPI_SUCCESS;
}

WEFT_MPI(Group_from_session_pset)
(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  Call call("MPI_Group_from_session_pset", Call::local);
  int error = MPI_SUCCESS;
  if (!find_session(call, session, error)) return error;
  if (!pset_name || !newgroup) return result(call, session, MPI_ERR_ARG);
  const auto members = weft::mpi::find_process_set(call.process(), pset_name);
  if (!members) return result(call, session, MPI_ERR_ARG, "no such process set");
  *newgroup = make_group(call.process(), *members, session);
  return MPI_SUCCESS;
}

WEFT_MPI(Session_create_errhandler)
(MPI_Session_errhandler_function* function, MPI_Errhandler* errhandler) {
  Call call("MPI_Session_create_errhandler", Call::always);
  if (!function || !errhandler) return call.result(MPI_ERR_ARG);
  ErrorHandler* made = call.process().handlers.make();
  made->kind = ErrorHandler::Kind::session;
  made->session_function = function;
  *errhandler = reinterpret_cast<MPI_Errhandler>(made);
  return MPI_SUCCESS;
}

WEFT_MPI(Session_set_errhandler)(MPI_Session session, MPI_Errhandler errhandler) {
  Call call("MPI_Session_set_errhandler", Call::local);
  int error = MPI_SUCCESS;
  Session* const found = find_session(call, session, error);
  if (!found) return error;
  Process& process = call.process();
  if (!valid_handler(process, errhandler, ErrorHandler::Kind::session)) {
    return result(call, session, MPI_ERR_ERRHANDLER);
  }
  retain_handler(process, errhandler);
  release_handler(process, found->handler);
  found->handler = errhandler;
  return MPI_SUCCESS;
}

WEFT_MPI(Session_get_errhandler)(MPI_Session session, MPI_Errhandler* errhandler) {
  Call call("MPI_Session_get_errhandler", Call::local);
  int error = MPI_SUCCESS;
  const Session* const found = find_session(call, session, error);
  if (!found) return error;
  if (!errhandler) return result(call, session, MPI_ERR_ARG);
  retain_handler(call.process(), found->handler);
  *errhandler = found->handler;
  return MPI_SUCCESS;
}

WEFT_MPI(Session_call_errhandler)(MPI_Session session, int errorcode) {
  Call call("MPI_Session_call_errhandler", Call::local);
  int error = MPI_SUCCESS;
  if (!find_session(call, session, error)) return error;
  result(call, session, errorcode);
  return MPI_SUCCESS;
}
