// SPDX-License-Identifier: Apache-2.0
// Windows as objects: names, hints, attributes, error handlers.
#include <cstring>
#include <string>

#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/window.hpp>

using weft::mpi::Call;
using weft::mpi::ErrorHandler;
using weft::mpi::InfoTable;
using weft::mpi::Keyval;
using weft::mpi::Process;
using weft::mpi::Window;

namespace {

// Returns null for keys of the program.
const void* predefined(const Window& window, int keyval) {
  switch (keyval) {
    case MPI_WIN_BASE:
      return window.base;
    case MPI_WIN_SIZE:
      return &window.size;
    case MPI_WIN_DISP_UNIT:
      return &window.displacement_unit;
    case MPI_WIN_CREATE_FLAVOR:
      return &window.flavor;
    case MPI_WIN_MODEL:
      return &window.model;
    default:
      return nullptr;
  }
}

bool is_predefined(int keyval) {
  return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL;
}

}  // namespace

WEFT_MPI(Win_get_group)(MPI_Win win, MPI_Group* group) {
  Call call("MPI_Win_get_group", Call::local);
  const Window* window = call.window(win);
  if (!window) return call.error();
  *group = make_group(call.process(), window->comm->local);
  return MPI_SUCCESS;
}

WEFT_MPI(Win_set_info)(MPI_Win win, MPI_Info info) {
  Call call("MPI_Win_set_info", Call::local);
  Window* window = call.window(win);
  if (!window || info == MPI_INFO_NULL) return call.error();
  const InfoTable* table = find_info(call.process(), info);
  if (!table) return result(call, *window, MPI_ERR_INFO);
  window->info.merge(*table);
  return MPI_SUCCESS;
}

WEFT_MPI(Win_get_info)(MPI_Win win, MPI_Info* info_used) {
  Call call("MPI_Win_get_info", Call::local);
  const Window* window = call.window(win);
  if (!window) return call.error();
  *info_used = make_info(call.process(), window->info);
  return MPI_SUCCESS;
}

WEFT_MPI(Win_set_name)(MPI_Win win, const char* win_name) {
  Call call("MPI_Win_set_name", Call::local);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (!win_name) return result(call, *window, MPI_ERR_ARG);
  window->name.assign(win_name, strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

WEFT_MPI(Win_get_name)(MPI_Win win, char* win_name, int* resultlen) {
  Call call("MPI_Win_get_name", Call::local);
  if (call.error()) return call.error();
  // The null handle has a name as well.
  const Window* window = win == MPI_WIN_NULL ? nullptr : call.window(win);
  if (call.error()) return call.error();
  const std::string name = window ? window->name : "MPI_WIN_NULL";
  std::memcpy(win_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return MPI_SUCCESS;
}

WEFT_MPI(Win_create_keyval)
(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* keyval,
 void* extra_state) {
  Call call("MPI_Win_create_keyval", Call::local);
  if (call.error()) return call.error();
  Keyval key;
  key.kind = Keyval::Kind::win;
  key.copy.win = copy;
  key.remove.win = remove;
  key.extra_state = extra_state;
  return make_keyval(call, key, keyval);
}

WEFT_MPI(Win_free_keyval)(int* keyval) {
  Call call("MPI_Win_free_keyval", Call::local);
  return call.error() ? call.error() : free_keyval(call, keyval, Keyval::Kind::win);
}

WEFT_MPI(Win_set_attr)(MPI_Win win, int keyval, void* value) {
  Call call("MPI_Win_set_attr", Call::local);
  Window* window = call.window(win);
  if (!window) return call.error();
  Process& process = call.process();
  if (!find_keyval(process, keyval, Keyval::Kind::win)) {
    return result(call, *window, MPI_ERR_KEYVAL);
  }
  return result(call, *window, window->attributes.set(process, win, keyval, value));
}

WEFT_MPI(Win_get_attr)(MPI_Win win, int keyval, void* value, int* flag) {
  Call call("MPI_Win_get_attr", Call::local);
  const Window* window = call.window(win);
  if (!window) return call.error();
  if (is_predefined(keyval)) {
    *static_cast<const void**>(value) = predefined(*window, keyval);
    *flag = 1;
    return MPI_SUCCESS;
  }
  if (!find_keyval(call.process(), keyval, Keyval::Kind::win)) {
    return result(call, *window, MPI_ERR_KEYVAL);
  }
  *flag = window->attributes.get(keyval, static_cast<void**>(value)) ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Win_delete_attr)(MPI_Win win, int keyval) {
  Call call("MPI_Win_delete_attr", Call::local);
  Window* window = call.window(win);
  if (!window) return call.error();
  Process& process = call.process();
  if (!find_keyval(process, keyval, Keyval::Kind::win)) {
    return result(call, *window, MPI_ERR_KEYVAL);
  }
  return result(call, *window, window->attributes.erase(process, win, keyval));
}

WEFT_MPI(Win_create_errhandler)(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler) {
  Call call("MPI_Win_create_errhandler", Call::always);
  if (!function || !errhandler) return call.result(MPI_ERR_ARG);
  ErrorHandler* made = call.process().handlers.make();
  made->kind = ErrorHandler::Kind::win;
  made->win_function = function;
  *errhandler = reinterpret_cast<MPI_Errhandler>(made);
  return MPI_SUCCESS;
}

WEFT_MPI(Win_set_errhandler)(MPI_Win win, MPI_Errhandler errhandler) {
  Call call("MPI_Win_set_errhandler", Call::local);
  Window* window = call.window(win);
  if (!window) return call.error();
  Process& process = call.process();
  if (!valid_handler(process, errhandler, ErrorHandler::Kind::win)) {
    return result(call, *window, MPI_ERR_ERRHANDLER);
  }
  retain_handler(process, errhandler);
  release_handler(process, window->handler);
  window->handler = errhandler;
  return MPI_SUCCESS;
}

WEFT_MPI(Win_get_errhandler)(MPI_Win win, MPI_Errhandler* errhandler) {
  Call call("MPI_Win_get_errhandler", Call::local);
  const Window* window = call.window(win);
  if (!window) return call.error();
  retain_handler(call.process(), window->handler);
  *errhandler = window->handler;
  return MPI_SUCCESS;
}

WEFT_MPI(Win_call_errhandler)(MPI_Win win, int errorcode) {
  Call call("MPI_Win_call_errhandler", Call::local);
  const Window* window = call.window(win);
  if (!window) return call.error();
  result(call, *window, errorcode);
  return MPI_SUCCESS;
}
