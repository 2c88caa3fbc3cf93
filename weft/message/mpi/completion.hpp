// SPDX-License-Identifier: Apache-2.0
// How the program gets rid of requests: one by one, some, all.
#pragma once

#include <string>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/request.hpp>

namespace weft::mpi {

// What went wrong with a request, and who shall hear of it.
struct Outcome {
  int error = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  std::string detail;
};

// The live request behind a handle that is not MPI_REQUEST_NULL, or null.
inline Request* find_request(Process& process, MPI_Request handle) {
  Request* request = process.requests.find(handle);
  return request && !request->orphan ? request : nullptr;
}

// MPI_ERR_REQUEST if one of the handles is no request, MPI_ERR_ARG for a bad array.
int check_requests(Process& process, int count, const MPI_Request* handles);

// Whether a wait must wait for it: not for MPI_REQUEST_NULL and for inactive ones.
bool is_active(Process& process, MPI_Request handle);
bool is_done(Process& process, MPI_Request handle);

// For what is done: the status, if the program wants it (not its MPI_ERROR), and the result.
Outcome look(Process& process, MPI_Request handle, MPI_Status* status);
// The same, and ends it: a persistent one becomes inactive, the handle of any other
// MPI_REQUEST_NULL.
Outcome complete(Process& process, MPI_Request& handle, MPI_Status* status);

// Hands an outcome to the handler.
int tell(Call& call, const Outcome& outcome);

}  // namespace weft::mpi
