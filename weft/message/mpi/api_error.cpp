// SPDX-License-Identifier: Apache-2.0
// Errors: classes, codes, texts and handlers.
#include <cstring>
#include <string>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/error_codes.hpp>
#include <weft/message/mpi/handlers.hpp>

using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::ErrorCodes;
using weft::mpi::ErrorHandler;
using weft::mpi::Process;

namespace {

ErrorCodes& codes_of(Process& process) {
  if (!process.error_codes) process.error_codes = std::make_unique<ErrorCodes>();
  return *process.error_codes;
}

}  // namespace

WEFT_MPI(Error_class)(int errorcode, int* errorclass) {
  Call call("MPI_Error_class", Call::always);
  const int found = codes_of(call.process()).class_of(errorcode);
  if (found < 0 || !errorclass) return call.result(MPI_ERR_ARG);
  *errorclass = found;
  return MPI_SUCCESS;
}

WEFT_MPI(Error_string)(int errorcode, char* string, int* resultlen) {
  Call call("MPI_Error_string", Call::always);
  const char* text = weft::mpi::standard_text(errorcode);
  if (!text) {
    const std::string* own = codes_of(call.process()).text(errorcode);
    if (!own) return call.result(MPI_ERR_ARG);
    text = own->c_str();
  }
  std::strncpy(string, text, MPI_MAX_ERROR_STRING - 1);
  string[MPI_MAX_ERROR_STRING - 1] = '\0';
  *resultlen = static_cast<int>(std::strlen(string));
  return MPI_SUCCESS;
}

WEFT_MPI(Add_error_class)(int* errorclass) {
  Call call("MPI_Add_error_class", Call::always);
  Process& process = call.process();
  *errorclass = codes_of(process).add_class();
  process.last_used_code = process.error_codes->last_used();
  return MPI_SUCCESS;
}

WEFT_MPI(Add_error_code)(int errorclass, int* errorcode) {
  Call call("MPI_Add_error_code", Call::always);
  Process& process = call.process();
  const int code = codes_of(process).add_code(errorclass);
  if (code < 0) return call.result(MPI_ERR_ARG);
  *errorcode = code;
  process.last_used_code = process.error_codes->last_used();
  return MPI_SUCCESS;
}

WEFT_MPI(Add_error_string)(int errorcode, const char* string) {
  Call call("MPI_Add_error_string", Call::always);
  return call.result(codes_of(call.process()).set_text(errorcode, string));
}

WEFT_MPI(Remove_error_class)(int errorclass) {
  Call call("MPI_Remove_error_class", Call::always);
  return call.result(codes_of(call.process()).remove_class(errorclass));
}

WEFT_MPI(Remove_error_code)(int errorcode) {
  Call call("MPI_Remove_error_code", Call::always);
  return call.result(codes_of(call.process()).remove_code(errorcode));
}

WEFT_MPI(Remove_error_string)(int errorcode) {
  Call call("MPI_Remove_error_string", Call::always);
  return call.result(codes_of(call.process()).remove_text(errorcode));
}

WEFT_MPI(Comm_create_errhandler)
(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  Call call("MPI_Comm_create_errhandler", Call::always);
  if (!function || !errhandler) return call.result(MPI_ERR_ARG);
  ErrorHandler* made = call.process().handlers.make();
  made->comm_function = function;
  *errhandler = reinterpret_cast<MPI_Errhandler>(made);
  return MPI_SUCCESS;
}

WEFT_MPI(Errhandler_free)(MPI_Errhandler* errhandler) {
  Call call("MPI_Errhandler_free", Call::always);
  Process& process = call.process();
  // Also for a handle that MPI_Comm_get_errhandler returned, which may be a predefined one.
  const bool valid = errhandler && (valid_handler(process, *errhandler, ErrorHandler::Kind::comm) ||
                                    process.handlers.find(*errhandler) != nullptr);
  if (!valid) return call.result(MPI_ERR_ERRHANDLER);
  release_handler(process, *errhandler);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler errhandler) {
  Call call("MPI_Comm_set_errhandler", Call::always);
  Process& process = call.process();
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!valid_handler(process, errhandler, ErrorHandler::Kind::comm)) {
    return call.result(c, MPI_ERR_ERRHANDLER);
  }
  retain_handler(process, errhandler);
  release_handler(process, c->handler);
  c->handler = errhandler;
  process.consider_losses();
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_get_errhandler)(MPI_Comm comm, MPI_Errhandler* errhandler) {
  Call call("MPI_Comm_get_errhandler", Call::always);
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  retain_handler(call.process(), c->handler);
  *errhandler = c->handler;
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_call_errhandler)(MPI_Comm comm, int errorcode) {
  Call call("MPI_Comm_call_errhandler", Call::always);
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  call.result(c, errorcode);
  return MPI_SUCCESS;
}
