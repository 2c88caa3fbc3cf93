// SPDX-License-Identifier: Apache-2.0
// Error handlers: who is told of an error. The predefined ones are handles only.
#pragma once

#include <cstdint>
#include <string>

#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

struct Process;

struct ErrorHandler {
  enum class Kind : std::uint8_t { comm, win };
  Kind kind = Kind::comm;
  std::uint32_t users = 1;  // The program's handles, and the objects that have it.
  MPI_Comm_errhandler_function* comm_function = nullptr;
  MPI_Win_errhandler_function* win_function = nullptr;
};

// Whether the handle may be set on an object of this kind.
bool valid_handler(Process& process, MPI_Errhandler handler, ErrorHandler::Kind kind);
// One user more or less; predefined handlers do not count.
void retain_handler(Process& process, MPI_Errhandler handler);
void release_handler(Process& process, MPI_Errhandler handler);

// Tells the handler; returns the code if the handler does. `comm` is whom a function of the program
// is told about.
int raise(Process& process, MPI_Errhandler handler, MPI_Comm comm, int code,
          const std::string& detail);

[[noreturn]] void end_job(Process& process, int code, const std::string& line);

// Whose handler hears of an error that belongs to no communicator.
const Communicator& default_communicator(const Process& process);

}  // namespace weft::mpi
