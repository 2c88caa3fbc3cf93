// SPDX-License-Identifier: Apache-2.0
// The tool interface, MPI_T. Its functions return their errors and invoke no error handler; they
// may be called before MPI_Init and after MPI_Finalize. There are no events and no sources of them.
#include <algorithm>
#include <cstring>
#include <string_view>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/tool.hpp>

using weft::mpi::Communicator;
using weft::mpi::ControlHandle;
using weft::mpi::ControlVariable;
using weft::mpi::PerformanceHandle;
using weft::mpi::PerformanceSession;
using weft::mpi::PerformanceVariable;
using weft::mpi::Process;
using weft::mpi::Tool;
using weft::mpi::ToolCategory;
using weft::mpi::ToolEnum;

namespace {

// Whatever a function does, it does inside the library and after MPI_T_init_thread.
class ToolCall {
 public:
  ToolCall() : process_(weft::mpi::self()) {}
  bool ready() const { return process_.tool && process_.tool->users > 0; }
  Process& process() const { return process_; }
  Tool& tool() const { return *process_.tool; }

 private:
  const weft::mpi::Inside inside_;
  Process& process_;
};

#define WEFT_TOOL_CALL(call) \
  const ToolCall call;       \
  if (!(call).ready()) return MPI_T_ERR_NOT_INITIALIZED

// A text and its length, as the interface gives them: at most *length characters, and then the
// length that is needed. Both may be null.
void give_text(std::string_view text, char* to, int* length) {
  if (!length) return;
  if (to && *length > 0) {
    const std::size_t size = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(to, text.data(), size);
    to[size] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

void give(int value, int* to) {
  if (to) *to = value;
}

template <typename T>
const T* at(std::span<const T> all, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < all.size()
             ? &all[static_cast<std::size_t>(index)]
             : nullptr;
}

template <typename T>
int find_name(std::span<const T> all, const char* name, int* index) {
  if (!name || !index) return MPI_T_ERR_INVALID;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::string_view(name) != all[i].name) continue;
    *index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

MPI_T_enum handle_of(const ToolEnum* values) {
  return reinterpret_cast<MPI_T_enum>(const_cast<ToolEnum*>(values));
}

// The owner of a handle in a list, or its end.
template <typename Handle, typename List>
auto find_handle(List& list, Handle handle) {
  return std::find_if(list.begin(), list.end(), [&](const auto& one) {
    return static_cast<const void*>(one.get()) == static_cast<const void*>(handle);
  });
}

std::uint64_t value_of(const Process& process, const PerformanceHandle& handle) {
  const std::uint64_t now = handle.variable->read(process);
  if (!handle.variable->counts()) return now;
  return handle.running ? handle.before + (now - handle.since) : handle.before;
}

// A value for each rank of the communicator, if that is still there.
int read_peers(Process& process, const PerformanceHandle& handle, unsigned long long* values) {
  const Communicator* const comm = find_communicator(process, handle.comm);
  if (!comm) return MPI_T_ERR_INVALID_HANDLE;
  const weft::mp::Members& peers = comm->peers();
  for (int i = 0; i < peers.size(); ++i) values[i] = handle.variable->read_peer(process, peers[i]);
  return MPI_SUCCESS;
}

void set(const Process& process, PerformanceHandle& handle, std::uint64_t value) {
  handle.before = value;
  handle.since = handle.variable->read(process);
}

int start(const Process& process, PerformanceHandle& handle) {
  if (!handle.variable->counts()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  if (!handle.running) handle.since = handle.variable->read(process);
  handle.running = true;
  return MPI_SUCCESS;
}

int stop(const Process& process, PerformanceHandle& handle) {
  if (!handle.variable->counts()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  handle.before = value_of(process, handle);
  handle.running = false;
  return MPI_SUCCESS;
}

int reset(const Process& process, PerformanceHandle& handle) {
  if (!handle.variable->counts()) return MPI_T_ERR_PVAR_NO_WRITE;
  set(process, handle, 0);
  return MPI_SUCCESS;
}

// Applies an action to one handle of a session, or to all of them that it is made for.
using Action = int(const Process& process, PerformanceHandle& handle);
int apply(const ToolCall& call, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
          Action* action) {
  auto& sessions = call.tool().sessions;
  const auto found = find_handle(sessions, session);
  if (found == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
  auto& handles = (*found)->handles;
  if (handle == MPI_T_PVAR_ALL_HANDLES) {
    for (const auto& one : handles) {
      if (one->variable->counts()) action(call.process(), *one);
    }
    return MPI_SUCCESS;
  }
  const auto one = find_handle(handles, handle);
  return one == handles.end() ? MPI_T_ERR_INVALID_HANDLE : action(call.process(), **one);
}

// One handle of a session. An error: return it.
int find(const ToolCall& call, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
         PerformanceHandle*& result) {
  auto& sessions = call.tool().sessions;
  const auto found = find_handle(sessions, session);
  if (found == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
  const auto one = find_handle((*found)->handles, handle);
  if (one == (*found)->handles.end()) return MPI_T_ERR_INVALID_HANDLE;
  result = one->get();
  return MPI_SUCCESS;
}

// Gives the numbers of a range, as many as there is room for.
int give_range(int category, int len, int* indices, bool controls) {
  const ToolCategory* const found = at(weft::mpi::tool_categories(), category);
  if (!found) return MPI_T_ERR_INVALID_INDEX;
  if (len < 0 || (len > 0 && !indices)) return MPI_T_ERR_INVALID;
  const int first = controls ? found->first_control : found->first_performance;
  const int count = controls ? found->control_count : found->performance_count;
  for (int i = 0; i < std::min(len, count); ++i) indices[i] = first + i;
  return MPI_SUCCESS;
}

int check_category(int category) {
  return at(weft::mpi::tool_categories(), category) ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

}  // namespace

WEFT_MPI(T_init_thread)(int required, int* provided) {
  const ToolCall call;
  Process& process = call.process();
  if (!process.tool) process.tool = std::make_unique<Tool>();
  ++process.tool->users;
  // Several threads are kept apart as soon as MPI_Init_thread has promised that.
  const int most = process.thread_level == MPI_THREAD_MULTIPLE
                       ? MPI_THREAD_MULTIPLE
                       : std::min(process.runtime.thread_level(), MPI_THREAD_SERIALIZED);
  give(std::clamp(required, MPI_THREAD_SINGLE, most), provided);
  return MPI_SUCCESS;
}

WEFT_MPI(T_finalize)(void) {
  WEFT_TOOL_CALL(call);
  if (--call.tool().users == 0) call.process().tool.reset();
  return MPI_SUCCESS;
}

WEFT_MPI(T_enum_get_info)(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  WEFT_TOOL_CALL(call);
  const ToolEnum* const values = weft::mpi::find_tool_enum(enumtype);
  if (!values) return MPI_T_ERR_INVALID_HANDLE;
  give(static_cast<int>(values->items.size()), num);
  give_text(values->name, name, name_len);
  return MPI_SUCCESS;
}

WEFT_MPI(T_enum_get_item)(MPI_T_enum enumtype, int indx, int* value, char* name, int* name_len) {
  WEFT_TOOL_CALL(call);
  const ToolEnum* const values = weft::mpi::find_tool_enum(enumtype);
  if (!values) return MPI_T_ERR_INVALID_HANDLE;
  const char* const* const item = at(values->items, indx);
  if (!item) return MPI_T_ERR_INVALID_INDEX;
  give(indx, value);
  give_text(*item, name, name_len);
  return MPI_SUCCESS;
}

WEFT_MPI(T_cvar_get_num)(int* num_cvar) {
  WEFT_TOOL_CALL(call);
  give(static_cast<int>(weft::mpi::control_variables().size()), num_cvar);
  return MPI_SUCCESS;
}

WEFT_MPI(T_cvar_get_info)
(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
 MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  WEFT_TOOL_CALL(call);
  const ControlVariable* const variable = at(weft::mpi::control_variables(), cvar_index);
  if (!variable) return MPI_T_ERR_INVALID_INDEX;
  give_text(variable->name, name, name_len);
  give(MPI_T_VERBOSITY_TUNER_BASIC, verbosity);
  if (datatype) *datatype = variable->is_bytes ? MPI_UNSIGNED_LONG : MPI_INT;
  if (enumtype) *enumtype = handle_of(variable->values);
  give_text(variable->description, desc, desc_len);
  give(MPI_T_BIND_NO_OBJECT, bind);
  give(MPI_T_SCOPE_READONLY, scope);
  return MPI_SUCCESS;
}

WEFT_MPI(T_cvar_get_index)(const char* name, int* cvar_index) {
  WEFT_TOOL_CALL(call);
  return find_name(weft::mpi::control_variables(), name, cvar_index);
}

WEFT_MPI(T_cvar_handle_alloc)
(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  WEFT_TOOL_CALL(call);
  const ControlVariable* const variable = at(weft::mpi::control_variables(), cvar_index);
  if (!variable) return MPI_T_ERR_INVALID_INDEX;
  if (!handle || !count) return MPI_T_ERR_INVALID;
  auto& controls = call.tool().controls;
  controls.push_back(std::make_unique<ControlHandle>(ControlHandle{variable}));
  *handle = reinterpret_cast<MPI_T_cvar_handle>(controls.back().get());
  *count = 1;
  return MPI_SUCCESS;
}

WEFT_MPI(T_cvar_handle_free)(MPI_T_cvar_handle* handle) {
  WEFT_TOOL_CALL(call);
  auto& controls = call.tool().controls;
  const auto found = handle ? find_handle(controls, *handle) : controls.end();
  if (found == controls.end()) return MPI_T_ERR_INVALID_HANDLE;
  controls.erase(found);
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

WEFT_MPI(T_cvar_read)(MPI_T_cvar_handle handle, void* buf) {
  WEFT_TOOL_CALL(call);
  auto& controls = call.tool().controls;
  const auto found = find_handle(controls, handle);
  if (found == controls.end()) return MPI_T_ERR_INVALID_HANDLE;
  if (!buf) return MPI_T_ERR_INVALID;
  const ControlVariable& variable = *(*found)->variable;
  const std::uint64_t value = variable.read(call.process());
  if (variable.is_bytes) {
    *static_cast<unsigned long*>(buf) = value;
  } else {
    *static_cast<int*>(buf) = static_cast<int>(value);
  }
  return MPI_SUCCESS;
}

// They are set where the job starts, for all ranks alike.
WEFT_MPI(T_cvar_write)(MPI_T_cvar_handle handle, const void*) {
  WEFT_TOOL_CALL(call);
  auto& controls = call.tool().controls;
  return find_handle(controls, handle) == controls.end() ? MPI_T_ERR_INVALID_HANDLE
                                                         : MPI_T_ERR_CVAR_SET_NEVER;
}

WEFT_MPI(T_pvar_get_num)(int* num_pvar) {
  WEFT_TOOL_CALL(call);
  give(static_cast<int>(weft::mpi::performance_variables().size()), num_pvar);
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_get_info)
(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
 MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
 int* atomic) {
  WEFT_TOOL_CALL(call);
  const PerformanceVariable* const variable = at(weft::mpi::performance_variables(), pvar_index);
  if (!variable) return MPI_T_ERR_INVALID_INDEX;
  give_text(variable->name, name, name_len);
  give(MPI_T_VERBOSITY_USER_BASIC, verbosity);
  give(variable->kind, var_class);
  if (datatype) *datatype = MPI_UNSIGNED_LONG_LONG;
  if (enumtype) *enumtype = MPI_T_ENUM_NULL;
  give_text(variable->description, desc, desc_len);
  give(variable->read_peer ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT, bind);
  give(variable->counts() ? 0 : 1, readonly);
  give(variable->counts() ? 0 : 1, continuous);
  give(variable->counts() ? 1 : 0, atomic);
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_get_index)(const char* name, int var_class, int* pvar_index) {
  WEFT_TOOL_CALL(call);
  int found = 0;
  const auto variables = weft::mpi::performance_variables();
  if (!pvar_index) return MPI_T_ERR_INVALID;
  if (const int error = find_name(variables, name, &found)) return error;
  if (at(variables, found)->kind != var_class) return MPI_T_ERR_INVALID_NAME;
  *pvar_index = found;
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_session_create)(MPI_T_pvar_session* session) {
  WEFT_TOOL_CALL(call);
  if (!session) return MPI_T_ERR_INVALID;
  auto& sessions = call.tool().sessions;
  sessions.push_back(std::make_unique<PerformanceSession>());
  *session = reinterpret_cast<MPI_T_pvar_session>(sessions.back().get());
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_session_free)(MPI_T_pvar_session* session) {
  WEFT_TOOL_CALL(call);
  auto& sessions = call.tool().sessions;
  const auto found = session ? find_handle(sessions, *session) : sessions.end();
  if (found == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
  sessions.erase(found);
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_handle_alloc)
(MPI_T_pvar_session session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle,
 int* count) {
  WEFT_TOOL_CALL(call);
  const PerformanceVariable* const variable = at(weft::mpi::performance_variables(), pvar_index);
  if (!variable) return MPI_T_ERR_INVALID_INDEX;
  if (!handle || !count) return MPI_T_ERR_INVALID;
  auto& sessions = call.tool().sessions;
  const auto found = find_handle(sessions, session);
  if (found == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
  PerformanceHandle made{variable};
  if (variable->read_peer) {
    if (!obj_handle) return MPI_T_ERR_INVALID;
    made.comm = *static_cast<MPI_Comm*>(obj_handle);
    const Communicator* const comm = find_communicator(call.process(), made.comm);
    if (!comm) return MPI_T_ERR_INVALID_HANDLE;
    *count = comm->peers().size();
  } else {
    *count = 1;
  }
  auto& handles = (*found)->handles;
  handles.push_back(std::make_unique<PerformanceHandle>(made));
  *handle = reinterpret_cast<MPI_T_pvar_handle>(handles.back().get());
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_handle_free)(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  WEFT_TOOL_CALL(call);
  auto& sessions = call.tool().sessions;
  const auto found = find_handle(sessions, session);
  if (found == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
  auto& handles = (*found)->handles;
  const auto one = handle ? find_handle(handles, *handle) : handles.end();
  if (one == handles.end()) return MPI_T_ERR_INVALID_HANDLE;
  handles.erase(one);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_start)(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  WEFT_TOOL_CALL(call);
  return apply(call, session, handle, &start);
}

WEFT_MPI(T_pvar_stop)(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  WEFT_TOOL_CALL(call);
  return apply(call, session, handle, &stop);
}

WEFT_MPI(T_pvar_reset)(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  WEFT_TOOL_CALL(call);
  return apply(call, session, handle, &reset);
}

WEFT_MPI(T_pvar_read)(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  WEFT_TOOL_CALL(call);
  PerformanceHandle* found = nullptr;
  if (const int error = find(call, session, handle, found)) return error;
  if (!buf) return MPI_T_ERR_INVALID;
  auto* const values = static_cast<unsigned long long*>(buf);
  if (found->variable->read_peer) return read_peers(call.process(), *found, values);
  *values = value_of(call.process(), *found);
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_write)(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
  WEFT_TOOL_CALL(call);
  PerformanceHandle* found = nullptr;
  if (const int error = find(call, session, handle, found)) return error;
  if (!found->variable->counts()) return MPI_T_ERR_PVAR_NO_WRITE;
  if (!buf) return MPI_T_ERR_INVALID;
  set(call.process(), *found, *static_cast<const unsigned long long*>(buf));
  return MPI_SUCCESS;
}

WEFT_MPI(T_pvar_readreset)(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  WEFT_TOOL_CALL(call);
  PerformanceHandle* found = nullptr;
  if (const int error = find(call, session, handle, found)) return error;
  if (!found->variable->counts()) return MPI_T_ERR_PVAR_NO_ATOMIC;
  if (!buf) return MPI_T_ERR_INVALID;
  *static_cast<unsigned long long*>(buf) = value_of(call.process(), *found);
  return reset(call.process(), *found);
}

WEFT_MPI(T_category_get_num)(int* num_cat) {
  WEFT_TOOL_CALL(call);
  give(static_cast<int>(weft::mpi::tool_categories().size()), num_cat);
  return MPI_SUCCESS;
}

WEFT_MPI(T_category_get_info)
(int cat_index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars,
 int* num_pvars, int* num_categories) {
  WEFT_TOOL_CALL(call);
  const ToolCategory* const category = at(weft::mpi::tool_categories(), cat_index);
  if (!category) return MPI_T_ERR_INVALID_INDEX;
  give_text(category->name, name, name_len);
  give_text(category->description, desc, desc_len);
  give(category->control_count, num_cvars);
  give(category->performance_count, num_pvars);
  give(0, num_categories);
  return MPI_SUCCESS;
}

WEFT_MPI(T_category_get_num_events)(int cat_index, int* num_events) {
  WEFT_TOOL_CALL(call);
  if (const int error = check_category(cat_index)) return error;
  give(0, num_events);
  return MPI_SUCCESS;
}

WEFT_MPI(T_category_get_index)(const char* name, int* cat_index) {
  WEFT_TOOL_CALL(call);
  return find_name(weft::mpi::tool_categories(), name, cat_index);
}

WEFT_MPI(T_category_get_cvars)(int cat_index, int len, int indices[]) {
  WEFT_TOOL_CALL(call);
  return give_range(cat_index, len, indices, true);
}

WEFT_MPI(T_category_get_pvars)(int cat_index, int len, int indices[]) {
  WEFT_TOOL_CALL(call);
  return give_range(cat_index, len, indices, false);
}

WEFT_MPI(T_category_get_events)(int cat_index, int, int[]) {
  WEFT_TOOL_CALL(call);
  return check_category(cat_index);
}

WEFT_MPI(T_category_get_categories)(int cat_index, int, int[]) {
  WEFT_TOOL_CALL(call);
  return check_category(cat_index);
}

// Categories never change.
WEFT_MPI(T_category_changed)(int* update_number) {
  WEFT_TOOL_CALL(call);
  give(0, update_number);
  return MPI_SUCCESS;
}

WEFT_MPI(T_event_get_num)(int* num_events) {
  WEFT_TOOL_CALL(call);
  give(0, num_events);
  return MPI_SUCCESS;
}

WEFT_MPI(T_source_get_num)(int* num_sources) {
  WEFT_TOOL_CALL(call);
  give(0, num_sources);
  return MPI_SUCCESS;
}

// weft has no events, so every handle of an event is invalid: these functions return that error.
#define WEFT_NO_EVENT(name, error, ...) \
  WEFT_MPI(name)(__VA_ARGS__) {         \
    WEFT_TOOL_CALL(call);               \
    return error;                       \
  }

WEFT_NO_EVENT(T_event_get_info, MPI_T_ERR_INVALID_INDEX, int, char*, int*, int*, MPI_Datatype*,
              MPI_Aint*, int*, MPI_T_enum*, MPI_Info*, char*, int*, int*)
WEFT_NO_EVENT(T_event_get_index, MPI_T_ERR_INVALID_NAME, const char*, int*)
WEFT_NO_EVENT(T_event_handle_alloc, MPI_T_ERR_INVALID_INDEX, int, void*, MPI_Info,
              MPI_T_event_registration*)
WEFT_NO_EVENT(T_event_handle_set_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration, MPI_Info)
WEFT_NO_EVENT(T_event_handle_get_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration,
              MPI_Info*)
WEFT_NO_EVENT(T_event_handle_free, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration, void*,
              MPI_T_event_free_cb_function*)
WEFT_NO_EVENT(T_event_register_callback, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration,
              MPI_T_cb_safety, MPI_Info, void*, MPI_T_event_cb_function*)
WEFT_NO_EVENT(T_event_callback_set_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration,
              MPI_T_cb_safety, MPI_Info)
WEFT_NO_EVENT(T_event_callback_get_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration,
              MPI_T_cb_safety, MPI_Info*)
WEFT_NO_EVENT(T_event_set_dropped_handler, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration,
              MPI_T_event_dropped_cb_function*)
WEFT_NO_EVENT(T_event_read, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance, int, void*)
WEFT_NO_EVENT(T_event_copy, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance, void*)
WEFT_NO_EVENT(T_event_get_timestamp, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance, MPI_Count*)
WEFT_NO_EVENT(T_event_get_source, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance, int*)
WEFT_NO_EVENT(T_source_get_info, MPI_T_ERR_INVALID_INDEX, int, char*, int*, char*, int*,
              MPI_T_source_order*, MPI_Count*, MPI_Count*, MPI_Info*)
WEFT_NO_EVENT(T_source_get_timestamp, MPI_T_ERR_INVALID_INDEX, int, MPI_Count*)
