// SPDX-License-Identifier: Apache-2.0
// Error handlers. The predefined ones are handles only.
#pragma once

#include <cstdint>
#include <string>

#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

struct Process;

struct ErrorHandler {
  enum class Kind : std::uint8_t { comm, win, session, file };
  Kind kind = Kind::comm;
  std::uint32_t users = 1;  // The program's handles, and the objects that use it.
  MPI_Comm_errhandler_function* comm_function = nullptr;
  MPI_Win_errhandler_function* win_function = nullptr;
  MPI_Session_errhandler_function* session_function = nullptr;
  MPI_File_errhandler_function* file_function = nullptr;
};

// Whether the handle may be set on an object of this kind.
bool valid_handler(Process& process, MPI_Errhandler handler, ErrorHandler::Kind kind);
// Adds or removes one user; predefined handlers are not counted.
void retain_handler(Process& process, MPI_Errhandler handler);
void release_handler(Process& process, MPI_Errhandler handler);

// Invokes the handler; returns the code if the handler returns. `comm` is passed to a handler
// function of the program.
int raise(Process& process, MPI_Errhandler handler, MPI_Comm comm, int code,
          const std::string& detail);

[[noreturn]] void end_job(Process& process, int code, const std::string& line);

// The communicator whose handler gets errors that belong to no communicator.
const Communicator& default_communicator(const Process& process);

}  // namespace weft::mpi
