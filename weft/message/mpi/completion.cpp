// SPDX-License-Identifier: Apache-2.0
#include "completion.hpp"

#include <weft/message/mpi/status.hpp>
#include <weft/message/mpi/transfer.hpp>

namespace weft::mpi {

int check_requests(Process& process, int count, const MPI_Request* handles) {
  if (count < 0 || (count > 0 && !handles)) return MPI_ERR_ARG;
  for (int i = 0; i < count; ++i) {
    if (handles[i] != MPI_REQUEST_NULL && !find_request(process, handles[i])) {
      return MPI_ERR_REQUEST;
    }
  }
  return MPI_SUCCESS;
}

bool is_active(Process& process, MPI_Request handle) {
  const Request* request = find_request(process, handle);
  return request && request->active;
}

bool is_done(Process& process, MPI_Request handle) {
  const Request* request = find_request(process, handle);
  return !request || is_done(*request) || is_held_up(*request);
}

Outcome look(Process& process, MPI_Request handle, MPI_Status* status) {
  Request* request = find_request(process, handle);
  if (!request || !request->active) {
    if (status) set_status_empty(*status);
    return {};
  }
  if (is_held_up(*request)) {
    if (status) set_status_empty(*status);
    return {MPI_ERR_PROC_FAILED_PENDING, request->transfer.comm->handle, {}};
  }
  finish(process, *request);
  Outcome outcome{request->error, MPI_COMM_NULL, {}};
  if (outcome.error != MPI_SUCCESS) outcome.detail = describe_error(*request);
  if (request->transfer.comm) outcome.comm = request->transfer.comm->handle;
  if (request->generalized) {
    MPI_Status unseen;
    MPI_Status& filled = status ? *status : unseen;
    set_status(filled, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    const Generalized& own = *request->generalized;
    outcome.error = process.outside([&] { return own.query(own.state, &filled); });
  } else if (status) {
    fill_status(*request, *status);
  }
  return outcome;
}

Outcome complete(Process& process, MPI_Request& handle, MPI_Status* status) {
  Outcome outcome = look(process, handle, status);
  Request* request = find_request(process, handle);
  if (!request || outcome.error == MPI_ERR_PROC_FAILED_PENDING) return outcome;
  if (request->persistent) {
    request->active = false;
    request->finished = false;
    return outcome;
  }
  if (const Generalized* const own = request->generalized.get(); own && own->free) {
    const int error = process.outside([&] { return own->free(own->state); });
    if (outcome.error == MPI_SUCCESS) outcome.error = error;
  }
  free_request(process, request);
  handle = MPI_REQUEST_NULL;
  return outcome;
}

int report_outcome(Call& call, const Outcome& outcome) {
  if (outcome.error == MPI_SUCCESS) return MPI_SUCCESS;
  return call.result(find_communicator(call.process(), outcome.comm), outcome.error,
                     outcome.detail);
}

}  // namespace weft::mpi
