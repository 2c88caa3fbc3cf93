/* SPDX-License-Identifier: Apache-2.0
 * Each thread of a rank hands over its own partition of a message, and looks for one of another. */
#include "check.h"
#include <pthread.h>

enum { threads = 6, each = 5000, rounds = 20 };

static int rank, size, out[threads * each], in[threads * each];
static MPI_Request requests[2];
static pthread_barrier_t together;

static void* work(void* argument) {
  const int self = (int)(long)argument, before = (rank + size - 1) % size;
  for (int round = 0; round < rounds; ++round) {
    if (self == 0) MPI_Startall(2, requests);
    pthread_barrier_wait(&together);
    for (int i = 0; i < each; ++i) out[self * each + i] = rank + 7 * round + i;
    if (MPI_Pready(self, requests[0]) != MPI_SUCCESS) return "MPI_Pready";
    for (int flag = 0; !flag;) {
      if (MPI_Parrived(requests[1], self, &flag) != MPI_SUCCESS) return "MPI_Parrived";
    }
    for (int i = 0; i < each; ++i) {
      if (in[self * each + i] != before + 7 * round + i) return "data";
    }
    pthread_barrier_wait(&together);
    if (self == 0) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

int main(int count, char** words) {
  int level = 0;
  pthread_t others[threads];
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(level == MPI_THREAD_MULTIPLE);
  MPI_Psend_init(out, threads, each, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(in, threads, each, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &requests[1]);
  pthread_barrier_init(&together, NULL, threads);
  for (long i = 1; i < threads; ++i) pthread_create(&others[i], NULL, work, (void*)i);
  const char* what = work(NULL);
  if (what) fprintf(stderr, "wrong: %s\n", what);
  CHECK(what == NULL);
  for (int i = 1; i < threads; ++i) {
    void* of_thread = NULL;
    pthread_join(others[i], &of_thread);
    CHECK(of_thread == NULL);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  report(rank);
  MPI_Finalize();
  return 0;
}
