// SPDX-License-Identifier: Apache-2.0
// Wait and test functions.
#include <utility>

#include <weft/message/mpi/completion.hpp>
#include <weft/message/mpi/error_codes.hpp>
#include <weft/message/mpi/status.hpp>
#include <weft/message/mpi/transfer.hpp>

using weft::mpi::Call;
using weft::mpi::Outcome;
using weft::mpi::Process;

namespace {

// Records what the rank waits for, as long as it lives.
class Waits {
 public:
  Waits(Process& process, const MPI_Request* handles, int count)
      : process_(process),
        outer_(std::exchange(process.waiting_for, {nullptr, handles, count, nullptr})) {}
  ~Waits() { process_.waiting_for = outer_; }
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

 private:
  Process& process_;
  weft::mpi::WaitingFor outer_;
};

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? nullptr : statuses + index;
}

int some_active(Process& process, int count, const MPI_Request* handles) {
  for (int i = 0; i < count; ++i) {
    if (is_active(process, handles[i])) return true;
  }
  return false;
}

// The index of the first active request that is done, or -1.
int find_done(Process& process, int count, const MPI_Request* handles) {
  for (int i = 0; i < count; ++i) {
    if (is_active(process, handles[i]) && is_done(process, handles[i])) return i;
  }
  return -1;
}

bool all_done(Process& process, int count, const MPI_Request* handles) {
  for (int i = 0; i < count; ++i) {
    if (!is_done(process, handles[i])) return false;
  }
  return true;
}

// If any of several requests failed, all error codes are put in the statuses; the first failed one
// invokes its error handler.
class Several {
 public:
  explicit Several(MPI_Status* statuses) : statuses_(statuses) {}

  // Where the status of the next one goes; may be null.
  MPI_Status* next() const { return at(statuses_, count_); }
  void add(const Outcome& outcome, int index) {
    ++count_;
    if (outcome.error != MPI_SUCCESS && first_.error == MPI_SUCCESS) {
      for (int i = 0; i < count_ && statuses_; ++i) statuses_[i].MPI_ERROR = MPI_SUCCESS;
      const char* text = weft::mpi::standard_text(outcome.error);
      first_ = {MPI_ERR_IN_STATUS, outcome.comm,
                "request " + std::to_string(index) + ": " + (text ? text : "error") +
                    (outcome.detail.empty() ? "" : ": " + outcome.detail)};
    }
    if (first_.error != MPI_SUCCESS && statuses_) statuses_[count_ - 1].MPI_ERROR = outcome.error;
  }
  int count() const { return count_; }
  int result(Call& call) const { return report_outcome(call, first_); }

 private:
  MPI_Status* statuses_;
  int count_ = 0;
  Outcome first_;
};

int complete_all(Call& call, int count, MPI_Request* handles, MPI_Status* statuses) {
  Several several(statuses);
  for (int i = 0; i < count; ++i) {
    several.add(complete(call.process(), handles[i], several.next()), i);
  }
  return several.result(call);
}

// All requests that are done, in order; their number goes to outcount, MPI_UNDEFINED if none is
// active.
struct Some {
  int* outcount;
  int* indices;
  MPI_Status* statuses;
};
int complete_some(Call& call, int count, MPI_Request* handles, const Some& out) {
  Process& process = call.process();
  Several several(out.statuses);
  for (int i = 0; i < count; ++i) {
    if (!is_active(process, handles[i]) || !is_done(process, handles[i])) continue;
    out.indices[several.count()] = i;
    several.add(complete(process, handles[i], several.next()), i);
  }
  *out.outcount = several.count();
  if (several.count() == 0) process.found_nothing();
  return several.result(call);
}

// Checks at the start of functions on lists of requests.
int check(Call& call, int count, const MPI_Request* handles) {
  if (call.error()) return call.error();
  return call.result(check_requests(call.process(), count, handles));
}

void leave_empty(MPI_Status* status) {
  if (status) weft::mpi::set_status_empty(*status);
}

}  // namespace

WEFT_MPI(Wait)(MPI_Request* request, MPI_Status* status) {
  Call call("MPI_Wait", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (!request) return call.result(MPI_ERR_ARG);
  if (const int error = check_requests(process, 1, request)) return call.result(error);
  const Waits waits(process, request, 1);
  if (!is_done(process, *request)) process.wait_until([&] { return is_done(process, *request); });
  return report_outcome(call, complete(process, *request, status));
}

WEFT_MPI(Test)(MPI_Request* request, int* flag, MPI_Status* status) {
  Call call("MPI_Test", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (!request || !flag) return call.result(MPI_ERR_ARG);
  if (const int error = check_requests(process, 1, request)) return call.result(error);
  process.progress();
  *flag = is_done(process, *request) ? 1 : 0;
  if (*flag) return report_outcome(call, complete(process, *request, status));
  process.found_nothing();
  return MPI_SUCCESS;
}

WEFT_MPI(Waitall)(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  Call call("MPI_Waitall", Call::communicates);
  if (const int error = check(call, count, array_of_requests)) return error;
  Process& process = call.process();
  const Waits waits(process, array_of_requests, count);
  for (int i = 0; i < count; ++i) {
    const MPI_Request handle = array_of_requests[i];
    if (!is_done(process, handle)) process.wait_until([&] { return is_done(process, handle); });
  }
  return complete_all(call, count, array_of_requests, array_of_statuses);
}

WEFT_MPI(Testall)
(int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses) {
  Call call("MPI_Testall", Call::communicates);
  if (const int error = check(call, count, array_of_requests)) return error;
  Process& process = call.process();
  process.progress();
  *flag = all_done(process, count, array_of_requests) ? 1 : 0;
  if (*flag) return complete_all(call, count, array_of_requests, array_of_statuses);
  process.found_nothing();
  return MPI_SUCCESS;
}

WEFT_MPI(Waitany)(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
  Call call("MPI_Waitany", Call::communicates);
  if (const int error = check(call, count, array_of_requests)) return error;
  Process& process = call.process();
  *indx = MPI_UNDEFINED;
  if (!some_active(process, count, array_of_requests)) {
    leave_empty(status);
    return MPI_SUCCESS;
  }
  const Waits waits(process, array_of_requests, count);
  int found = find_done(process, count, array_of_requests);
  if (found < 0) {
    process.wait_until([&] { return (found = find_done(process, count, array_of_requests)) >= 0; });
  }
  *indx = found;
  return report_outcome(call, complete(process, array_of_requests[found], status));
}

WEFT_MPI(Testany)
(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  Call call("MPI_Testany", Call::communicates);
  if (const int error = check(call, count, array_of_requests)) return error;
  Process& process = call.process();
  process.progress();
  *indx = MPI_UNDEFINED;
  *flag = some_active(process, count, array_of_requests) ? 0 : 1;
  if (*flag) {
    leave_empty(status);
    return MPI_SUCCESS;
  }
  const int found = find_done(process, count, array_of_requests);
  if (found < 0) {
    process.found_nothing();
    return MPI_SUCCESS;
  }
  *indx = found;
  *flag = 1;
  return report_outcome(call, complete(process, array_of_requests[found], status));
}

WEFT_MPI(Waitsome)
(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
 MPI_Status* array_of_statuses) {
  Call call("MPI_Waitsome", Call::communicates);
  if (const int error = check(call, incount, array_of_requests)) return error;
  Process& process = call.process();
  if (!some_active(process, incount, array_of_requests)) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  const Waits waits(process, array_of_requests, incount);
  process.wait_until([&] { return find_done(process, incount, array_of_requests) >= 0; });
  return complete_some(call, incount, array_of_requests,
                       {outcount, array_of_indices, array_of_statuses});
}

WEFT_MPI(Testsome)
(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
 MPI_Status* array_of_statuses) {
  Call call("MPI_Testsome", Call::communicates);
  if (const int error = check(call, incount, array_of_requests)) return error;
  Process& process = call.process();
  if (!some_active(process, incount, array_of_requests)) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  process.progress();
  return complete_some(call, incount, array_of_requests,
                       {outcount, array_of_indices, array_of_statuses});
}

WEFT_MPI(Request_get_status)(MPI_Request request, int* flag, MPI_Status* status) {
  Call call("MPI_Request_get_status", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (const int error = check_requests(process, 1, &request)) return call.result(error);
  process.progress();
  *flag = is_done(process, request) ? 1 : 0;
  if (*flag) return report_outcome(call, look(process, request, status));
  process.found_nothing();
  return MPI_SUCCESS;
}

WEFT_MPI(Request_get_status_all)
(int count, const MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses) {
  Call call("MPI_Request_get_status_all", Call::communicates);
  if (const int error = check(call, count, array_of_requests)) return error;
  Process& process = call.process();
  process.progress();
  *flag = all_done(process, count, array_of_requests) ? 1 : 0;
  if (!*flag) process.found_nothing();
  Several several(array_of_statuses);
  for (int i = 0; *flag && i < count; ++i) {
    several.add(look(process, array_of_requests[i], several.next()), i);
  }
  return several.result(call);
}

WEFT_MPI(Request_get_status_any)
(int count, const MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  Call call("MPI_Request_get_status_any", Call::communicates);
  if (const int error = check(call, count, array_of_requests)) return error;
  Process& process = call.process();
  process.progress();
  const int found = find_done(process, count, array_of_requests);
  *indx = found < 0 ? MPI_UNDEFINED : found;
  *flag = found >= 0 || !some_active(process, count, array_of_requests) ? 1 : 0;
  if (found >= 0) return report_outcome(call, look(process, array_of_requests[found], status));
  if (*flag) {
    leave_empty(status);
  } else {
    process.found_nothing();
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Request_get_status_some)
(int incount, const MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
 MPI_Status* array_of_statuses) {
  Call call("MPI_Request_get_status_some", Call::communicates);
  if (const int error = check(call, incount, array_of_requests)) return error;
  Process& process = call.process();
  process.progress();
  Several several(array_of_statuses);
  for (int i = 0; i < incount; ++i) {
    const MPI_Request handle = array_of_requests[i];
    if (!is_active(process, handle) || !is_done(process, handle)) continue;
    array_of_indices[several.count()] = i;
    several.add(look(process, handle, several.next()), i);
  }
  *outcount = several.count();
  if (several.count() == 0) process.found_nothing();
  if (!some_active(process, incount, array_of_requests)) *outcount = MPI_UNDEFINED;
  return several.result(call);
}
