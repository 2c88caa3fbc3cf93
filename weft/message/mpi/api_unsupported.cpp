// SPDX-License-Identifier: Apache-2.0
// What this library does not have: processes that start later, and those of other jobs. Programs
// link, and learn it from the error MPI_ERR_UNSUPPORTED_OPERATION of the communicator's handler.
#include <weft/message/mpi/call.hpp>

using weft::mpi::Call;

namespace {

int no_processes(const char* name, MPI_Comm comm) {
  Call call(name, Call::local);
  const weft::mpi::Communicator* const found = call.communicator(comm);
  if (!found) return call.error();
  return call.result(found, MPI_ERR_UNSUPPORTED_OPERATION, "all processes of a job start together");
}

}  // namespace

// Functions of processes: the name, the parameters, and the communicator that gets the error.
// NOLINTBEGIN(bugprone-macro-parentheses): parameters.
#define WEFT_NO_PROCESSES(name, parameters, comm) \
  WEFT_MPI(name) parameters {                     \
    return no_processes("MPI_" #name, comm);      \
  }

WEFT_NO_PROCESSES(Comm_spawn,
                  (const char*, char**, int, MPI_Info, int, MPI_Comm comm, MPI_Comm*, int*), comm)
WEFT_NO_PROCESSES(Comm_spawn_multiple,
                  (int, char**, char***, const int*, const MPI_Info*, int, MPI_Comm comm, MPI_Comm*,
                   int*),
                  comm)
WEFT_NO_PROCESSES(Open_port, (MPI_Info, char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Close_port, (const char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Comm_accept, (const char*, MPI_Info, int, MPI_Comm comm, MPI_Comm*), comm)
WEFT_NO_PROCESSES(Comm_connect, (const char*, MPI_Info, int, MPI_Comm comm, MPI_Comm*), comm)
WEFT_NO_PROCESSES(Comm_join, (int, MPI_Comm*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Publish_name, (const char*, MPI_Info, const char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Unpublish_name, (const char*, MPI_Info, const char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Lookup_name, (const char*, MPI_Info, char*), MPI_COMM_SELF)
// NOLINTEND(bugprone-macro-parentheses)
