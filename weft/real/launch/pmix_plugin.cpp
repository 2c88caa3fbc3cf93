// SPDX-License-Identifier: Apache-2.0
// The PMIx plugin: a key-value store over libpmix.
#include "pmix_plugin.hpp"

#include <cstring>

#include <pmix.h>
#include <unistd.h>

namespace {

using weft::launch::PmixListener;
using weft::launch::PmixTaker;

// libpmix exists once per process, and so do these.
pmix_proc_t own;
std::uint32_t size = 0;
PmixListener listener;

// The process that an event is about; if it does not say, the one that reported it.
// NOLINTNEXTLINE(readability-function-size): the library prescribes the parameters.
void on_event(std::size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
              std::size_t infos, pmix_info_t*, std::size_t,
              pmix_event_notification_cbfunc_fn_t done, void* data) {
  const pmix_proc_t* about = source;
  for (std::size_t i = 0; i < infos; ++i)
    if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && info[i].value.type == PMIX_PROC)
      about = info[i].value.data.proc;
  if (status == PMIX_ERR_LOST_CONNECTION) {
    listener.notify(listener.owner, 1, 0);
  } else if (about != nullptr && std::strncmp(about->nspace, own.nspace, PMIX_MAX_NSLEN) == 0 &&
             about->rank < size && about->rank != own.rank) {
    listener.notify(listener.owner, 0, about->rank);
  }
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

// Ignores processes that left in order, which some launchers report as well.
int listen_for_ends() {
  pmix_status_t codes[] = {
      PMIX_ERR_LOST_CONNECTION,     PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_EVENT_PROC_TERMINATED,
#ifdef PMIX_ERR_PROC_ABORTED
      PMIX_ERR_PROC_ABORTED,
#endif
#ifdef PMIX_ERR_PROC_ABORTED_BY_SIG
      PMIX_ERR_PROC_ABORTED_BY_SIG,
#endif
#ifdef PMIX_ERR_EXIT_NONZERO_TERM
      PMIX_ERR_EXIT_NONZERO_TERM,
#endif
  };
  const int got = PMIx_Register_event_handler(codes, sizeof codes / sizeof *codes, nullptr, 0,
                                              &on_event, nullptr, nullptr);
  return got < 0 ? got : 0;  // Non-negative values are the handler's number.
}

int init(char** environment, PmixListener given) {
  environ = environment;
  listener = given;
  if (const pmix_status_t status = PMIx_Init(&own, nullptr, 0); status != PMIX_SUCCESS)
    return status;
  pmix_proc_t all;
  PMIX_LOAD_PROCID(&all, own.nspace, PMIX_RANK_WILDCARD);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&all, PMIX_JOB_SIZE, nullptr, 0, &value);
  if (status != PMIX_SUCCESS) return status;
  size = value->data.uint32;
  PMIX_VALUE_RELEASE(value);
  return listen_for_ends();
}

int put(const char* key, const void* data, std::size_t count) {
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = static_cast<char*>(const_cast<void*>(data));
  value.data.bo.size = count;
  return PMIx_Put(PMIX_GLOBAL, key, &value);  // Copies; the value stays ours.
}

int barrier() {
  if (const pmix_status_t status = PMIx_Commit(); status != PMIX_SUCCESS) return status;
  pmix_proc_t all;
  PMIX_LOAD_PROCID(&all, own.nspace, PMIX_RANK_WILDCARD);
  pmix_info_t collect;
  bool yes = true;
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  return PMIx_Fence(&all, 1, &collect, 1);
}

int get(std::uint32_t rank, const char* key, PmixTaker taker) {
  pmix_proc_t whose;
  PMIX_LOAD_PROCID(&whose, own.nspace, rank);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&whose, key, nullptr, 0, &value);
  if (status != PMIX_SUCCESS) return status;
  const bool bytes = value->type == PMIX_BYTE_OBJECT;
  if (bytes) taker.take(taker.owner, value->data.bo.bytes, value->data.bo.size);
  PMIX_VALUE_RELEASE(value);
  return bytes ? 0 : PMIX_ERR_TYPE_MISMATCH;
}

void abort_job(int code, const char* message) {
  PMIx_Abort(code, message, nullptr, 0);
}

void finalize() {
  PMIx_Finalize(nullptr, 0);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const weft::launch::PmixPlugin weft_launch_pmix_v1 = {
    &init,
    [] { return std::uint32_t{own.rank}; },
    [] { return size; },
    &put,
    &barrier,
    &get,
    &abort_job,
    &finalize,
    [](int error) { return PMIx_Error_string(error); },
};
