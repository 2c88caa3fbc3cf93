// SPDX-License-Identifier: Apache-2.0
// rate LEVEL THREADS BYTES MILLISECONDS
// Ranks 0 and 1 exchange messages, each thread with the one of the same number in a communicator of
// its own. LEVEL is what MPI_Init_thread is asked for (single, funneled, serialized, multiple).
// Further ranks only take part in the beginning and the end. Rank 0 prints
//   latency_us L rate_per_s R
// half of a round trip of one thread (the least of many short measurements), and messages that all
// threads of both ranks send in a second, 64 at a time.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batch = 64, most_threads = 16, trips = 200 };

static int self, bytes;
static double span;

struct worker {
  MPI_Comm comm;
  double sent;
};

static int level_of(const char* name) {
  if (strcmp(name, "single") == 0) return MPI_THREAD_SINGLE;
  if (strcmp(name, "funneled") == 0) return MPI_THREAD_FUNNELED;
  return strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
}

static double latency(MPI_Comm comm) {
  char* const data = calloc(1, (size_t)bytes + 1);
  double least = 1e9;
  for (int go = 1; go;) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < trips; ++i) {
      if (self == 0) MPI_Send(data, bytes, MPI_BYTE, 1, 1, comm);
      MPI_Recv(data, bytes, MPI_BYTE, 1 - self, 1, comm, MPI_STATUS_IGNORE);
      if (self == 1) MPI_Send(data, bytes, MPI_BYTE, 0, 1, comm);
    }
    const double each = (MPI_Wtime() - begin) / trips / 2;
    if (each < least) least = each;
    go = (span -= MPI_Wtime() - begin) > 0;
    MPI_Bcast(&go, 1, MPI_INT, 0, comm);
  }
  free(data);
  return least;
}

static void* exchange(void* given) {
  struct worker* const w = given;
  char *const out = calloc(1, (size_t)bytes + 1), *const in = calloc(batch, (size_t)bytes + 1);
  MPI_Request open[2 * batch];
  const double end = MPI_Wtime() + span;
  for (int go = 1; go;) {
    for (int i = 0; i < batch; ++i) {
      MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, 1 - self, 2, w->comm, &open[i]);
      MPI_Isend(out, bytes, MPI_BYTE, 1 - self, 2, w->comm, &open[batch + i]);
    }
    MPI_Waitall(2 * batch, open, MPI_STATUSES_IGNORE);
    w->sent += 2 * batch;
    go = MPI_Wtime() < end;
    // Rank 0 decides; a send and a receive, as a collective would cost more.
    if (self == 0) MPI_Send(&go, 1, MPI_INT, 1, 3, w->comm);
    if (self == 1) MPI_Recv(&go, 1, MPI_INT, 0, 3, w->comm, MPI_STATUS_IGNORE);
  }
  free(out), free(in);
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0, threads = atoi(argv[2]);
  MPI_Init_thread(&argc, &argv, level_of(argv[1]), &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  bytes = atoi(argv[3]);
  if (threads < 1 || threads > most_threads || (threads > 1 && level != MPI_THREAD_MULTIPLE)) {
    if (self == 0) fprintf(stderr, "rate: %d threads at level %d\n", threads, level);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  struct worker workers[most_threads] = {0};
  pthread_t handles[most_threads];
  double half_trip = 0, took = 0, sent = 0;
  for (int t = 0; t < threads; ++t)
    MPI_Comm_split(MPI_COMM_WORLD, self > 1, self, &workers[t].comm);
  if (self < 2) {
    span = atof(argv[4]) / 1e3;
    half_trip = latency(workers[0].comm);
    span = atof(argv[4]) / 1e3;
    MPI_Barrier(workers[0].comm);
    const double begin = MPI_Wtime();
    for (int t = 1; t < threads; ++t) pthread_create(&handles[t], NULL, exchange, &workers[t]);
    exchange(&workers[0]);
    for (int t = 1; t < threads; ++t) pthread_join(handles[t], NULL);
    took = MPI_Wtime() - begin;
    for (int t = 0; t < threads; ++t) sent += workers[t].sent;
  }
  if (self == 0) printf("latency_us %.4f rate_per_s %.0f\n", half_trip * 1e6, sent / took);
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&workers[t].comm);
  MPI_Finalize();
  return 0;
}
