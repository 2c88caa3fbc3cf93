// SPDX-License-Identifier: Apache-2.0
// Completion of requests: one by one, some, all.
#pragma once

#include <string>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/request.hpp>

namespace weft::mpi {

// The error of a request, and the communicator whose handler is invoked.
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

// MPI_ERR_REQUEST if one of the handles is not a request, MPI_ERR_ARG for a bad array.
int check_requests(Process& process, int count, const MPI_Request* handles);

// Whether a wait must wait for it: not for MPI_REQUEST_NULL and inactive requests.
bool is_active(Process& process, MPI_Request handle);
bool is_done(Process& process, MPI_Request handle);

// For a finished request: sets the status if the program wants it (except for MPI_ERROR) and
// returns the result.
Outcome look(Process& process, MPI_Request handle, MPI_Status* status);
// The same, and completes it: a persistent request becomes inactive, any other handle becomes
// MPI_REQUEST_NULL.
Outcome complete(Process& process, MPI_Request& handle, MPI_Status* status);

// Passes an outcome to the error handler.
int report_outcome(Call& call, const Outcome& outcome);

}  // namespace weft::mpi
