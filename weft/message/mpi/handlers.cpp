// SPDX-License-Identifier: Apache-2.0
#include "handlers.hpp"

#include <cstdlib>

#include <weft/message/mpi/error_codes.hpp>
#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

bool valid_handler(Process& process, MPI_Errhandler handler, ErrorHandler::Kind kind) {
  if (handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN ||
      handler == MPI_ERRORS_ABORT) {
    return true;
  }
  const ErrorHandler* made = process.handlers.find(handler);
  return made && made->kind == kind;
}

void retain_handler(Process& process, MPI_Errhandler handler) {
  if (ErrorHandler* made = process.handlers.find(handler)) ++made->users;
}

void release_handler(Process& process, MPI_Errhandler handler) {
  ErrorHandler* made = process.handlers.find(handler);
  if (made && --made->users == 0) process.handlers.free(made);
}

namespace {

std::string text_of(const Process& process, int code) {
  if (const char* text = standard_text(code)) return text;
  const std::string* text = process.error_codes ? process.error_codes->text(code) : nullptr;
  return text && !text->empty() ? *text : "error " + std::to_string(code);
}

}  // namespace

int raise(Process& process, MPI_Errhandler handler, MPI_Comm comm, int code,
          const std::string& detail) {
  if (handler == MPI_ERRORS_RETURN) return code;
  ErrorHandler* made = process.handlers.find(handler);
  if (made && made->comm_function) {
    ++made->users;  // The callback may free it.
    int argument = code;
    made->comm_function(&comm, &argument);
    release_handler(process, handler);
    return code;
  }
  std::string line = "rank " + std::to_string(process.rank().index) + ": ";
  line += process.call ? process.call : "MPI";
  line += ": " + text_of(process, code);
  if (!detail.empty()) line += ": " + detail;
  end_job(process, code, line);
}

void end_job(Process& process, int code, const std::string& line) {
  process.runtime.abort(process.rank(), code, line);
  std::abort();  // Unreachable: some compilers do not trust [[noreturn]] on a virtual function.
}

// MPI 4 specifies MPI_COMM_SELF, earlier versions MPI_COMM_WORLD: use the one that the program has
// changed.
const Communicator& default_communicator(const Process& process) {
  const Communicator* const self_only = process.self_only_if_made();
  const bool changed = self_only != nullptr && self_only->handler != MPI_ERRORS_ARE_FATAL;
  return changed ? *self_only : process.world;
}

}  // namespace weft::mpi
