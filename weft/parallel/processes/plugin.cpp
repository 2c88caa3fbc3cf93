// SPDX-License-Identifier: Apache-2.0
// A process group over an MPI library. Built once for each library that was found.
#include "plugin.hpp"

#include <cstdint>
#include <ctime>
#include <deque>
#include <vector>

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

namespace {

struct Sending {
  MPI_Request request;
  void (*done)(void*);
  void* owner;
};

struct Job {
  MPI_Comm comm = MPI_COMM_NULL;
  int self = 0;
  int count = 1;
  std::deque<Sending> sending;
  std::vector<std::int64_t> sent;  // By receiver.
  std::int64_t received = 0;
  MPI_Message arrived = MPI_MESSAGE_NULL;
  int arrived_size = 0;
  int spins = 0;  // How often a waiting process polls before it yields the core.
};

// MPI exists once per process, and so does this.
Job* job = nullptr;

bool finish_one(Sending& sending) {
  int done = 0;
  MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE);
  if (done != 0) sending.done(sending.owner);
  return done != 0;
}

// An unfinished send moves to the end of the queue, so that a slow receiver does not keep the
// buffers of others alive.
void progress_sends(int tries) {
  for (; tries > 0 && !job->sending.empty(); --tries) {
    Sending oldest = job->sending.front();
    job->sending.pop_front();
    if (!finish_one(oldest)) job->sending.push_back(oldest);
  }
}

// A partner with a core of its own answers soon, so poll again at once. When processes outnumber
// cores, the partner may be waiting for this very core.
class Backoff {
 public:
  void wait() {
    progress_sends(1);
    ++tries_;
    if (tries_ < job->spins) return;
    if (tries_ < job->spins + yields) {
      sched_yield();
      return;
    }
    const timespec nap{0, 20'000};
    nanosleep(&nap, nullptr);
  }

 private:
  static constexpr int yields = 2000;
  int tries_ = 0;
};

bool cores_for_all() {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(job->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int processes = 0;
  MPI_Comm_size(here, &processes);
  MPI_Comm_free(&here);
  return processes <= sysconf(_SC_NPROCESSORS_ONLN);
}

void complete(MPI_Request request) {
  Backoff backoff;
  for (;;) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    backoff.wait();
  }
}

void init(char** environment) {
  // With deep binding this may be the C library's own variable instead of the program's copy of it.
  environ = environment;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  job = new Job;
  MPI_Comm_dup(MPI_COMM_WORLD, &job->comm);
  MPI_Comm_rank(job->comm, &job->self);
  MPI_Comm_size(job->comm, &job->count);
  job->spins = cores_for_all() ? 500 : 0;
  job->sent.assign(static_cast<std::size_t>(job->count), 0);
}

int self() {
  return job->self;
}

int count() {
  return job->count;
}

void send(int to, int stream, weft::PluginMessage parcel) {
  Sending sending{MPI_REQUEST_NULL, parcel.done, parcel.owner};
  MPI_Isend(parcel.data, static_cast<int>(parcel.size), MPI_BYTE, to, stream, job->comm,
            &sending.request);
  ++job->sent[static_cast<std::size_t>(to)];
  if (!finish_one(sending)) job->sending.push_back(sending);
  progress_sends(2);
}

std::size_t await(int from, int stream) {
  Backoff backoff;
  for (;;) {
    int found = 0;
    MPI_Status status;
    MPI_Improbe(from, stream, job->comm, &found, &job->arrived, &status);
    if (found != 0) {
      MPI_Get_count(&status, MPI_BYTE, &job->arrived_size);
      return static_cast<std::size_t>(job->arrived_size);
    }
    backoff.wait();
  }
}

void take(void* data) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Imrecv(data, job->arrived_size, MPI_BYTE, &job->arrived, &request);
  complete(request);
  ++job->received;
}

void abort_job(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}

void finalize() {
  std::int64_t to_me = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ireduce_scatter_block(job->sent.data(), &to_me, 1, MPI_INT64_T, MPI_SUM, job->comm, &request);
  complete(request);
  std::vector<char> dropped;
  while (job->received < to_me) {
    dropped.resize(await(MPI_ANY_SOURCE, MPI_ANY_TAG));
    take(dropped.data());
  }
  Backoff backoff;
  while (!job->sending.empty()) backoff.wait();
  MPI_Ibarrier(job->comm, &request);
  complete(request);
  MPI_Comm_free(&job->comm);
  MPI_Finalize();
  delete job;
  job = nullptr;
}

}  // namespace

// A const variable has internal linkage in C++, so it is declared extern first.
extern "C" __attribute__((visibility("default"))) const weft::ProcessesPlugin weft_processes_v1;
const weft::ProcessesPlugin weft_processes_v1 = {init,  self, count,     send,
                                                 await, take, abort_job, finalize};
