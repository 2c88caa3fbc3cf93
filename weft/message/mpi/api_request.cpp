// SPDX-License-Identifier: Apache-2.0
// Other operations on requests: start, free, cancel; generalized requests.
#include <utility>

#include <weft/message/mpi/completion.hpp>
#include <weft/message/mpi/status.hpp>
#include <weft/message/mpi/transfer.hpp>

using weft::mpi::Call;
using weft::mpi::Generalized;
using weft::mpi::Process;
using weft::mpi::Request;

namespace {

int start_one(Call& call, MPI_Request handle) {
  Request* request = find_request(call.process(), handle);
  if (!request || !request->persistent) return call.result(MPI_ERR_REQUEST);
  if (request->active) return call.result(MPI_ERR_REQUEST, "already started");
  start(call.process(), *request);
  if (request->error == MPI_SUCCESS) return MPI_SUCCESS;
  request->active = false;
  return call.result(request->transfer.comm, request->error, describe_error(*request));
}

int cancel(Call& call, Request& request) {
  Process& process = call.process();
  switch (request.kind) {
    case Request::Kind::generalized: {
      const Generalized& own = *request.generalized;
      if (!own.cancel) return MPI_SUCCESS;
      const int complete = request.finished ? 1 : 0;
      return call.result(process.outside([&] { return own.cancel(own.state, complete); }));
    }
    case Request::Kind::task:
      return call.result(request.transfer.comm, MPI_ERR_REQUEST, "collectives cannot be cancelled");
    default:
      break;
  }
  if (!request.active || request.finished) return MPI_SUCCESS;
  request.cancelling = true;
  weft::mp::Request* low = weft::mpi::low_of(request);
  if (low) process.messenger.cancel(low);
  return MPI_SUCCESS;
}

}  // namespace

WEFT_MPI(Start)(MPI_Request* request) {
  Call call("MPI_Start", Call::communicates);
  if (call.error()) return call.error();
  if (!request) return call.result(MPI_ERR_ARG);
  return start_one(call, *request);
}

WEFT_MPI(Startall)(int count, MPI_Request array_of_requests[]) {
  Call call("MPI_Startall", Call::communicates);
  if (call.error()) return call.error();
  if (count < 0 || (count > 0 && !array_of_requests)) return call.result(MPI_ERR_ARG);
  for (int i = 0; i < count; ++i) {
    if (const int error = start_one(call, array_of_requests[i])) return error;
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Request_free)(MPI_Request* request) {
  Call call("MPI_Request_free", Call::local);
  if (call.error()) return call.error();
  Process& process = call.process();
  Request* found = request ? find_request(process, *request) : nullptr;
  if (!found) return call.result(MPI_ERR_REQUEST);
  *request = MPI_REQUEST_NULL;
  if (found == process.sent) {
    free_request(process, found);
    return MPI_SUCCESS;
  }
  found->orphan = true;
  process.orphans.push_back(found);
  process.sweep();
  return MPI_SUCCESS;
}

WEFT_MPI(Cancel)(MPI_Request* request) {
  Call call("MPI_Cancel", Call::communicates);
  if (call.error()) return call.error();
  Request* found = request ? find_request(call.process(), *request) : nullptr;
  return found ? cancel(call, *found) : call.result(MPI_ERR_REQUEST);
}

WEFT_MPI(Grequest_start)
(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
 MPI_Grequest_cancel_function* cancel, void* extra_state, MPI_Request* request) {
  Call call("MPI_Grequest_start", Call::local);
  if (call.error()) return call.error();
  if (!query || !request) return call.result(MPI_ERR_ARG);
  Request prepared;
  prepared.kind = Request::Kind::generalized;
  prepared.active = true;
  prepared.generalized =
      std::make_unique<Generalized>(Generalized{query, free, cancel, extra_state});
  *request = handle_of(keep(call.process(), std::move(prepared)));
  return MPI_SUCCESS;
}

WEFT_MPI(Grequest_complete)(MPI_Request request) {
  Call call("MPI_Grequest_complete", Call::local);
  if (call.error()) return call.error();
  // The program may have freed it before: then it ends now.
  Request* found = call.process().requests.find(request);
  if (!found || !found->generalized) return call.result(MPI_ERR_REQUEST);
  found->finished = true;
  call.process().sweep();
  return MPI_SUCCESS;
}
