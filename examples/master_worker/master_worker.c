/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 hands out tasks to whoever asks first, so who does which task depends on how the network
 * carries the answers. A task's result is a message whose size depends on the task. Needs
 * --payload=full: workers act on what they receive. Usage: master_worker [TASKS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { tag_ask, tag_task, tag_stop };

static int bytes_of(int task) {
  return 64 + task * 7919 % 30000;
}

static void master(int size, int tasks) {
  char* const result = malloc(40000);
  int* const done_by = calloc((size_t)size, sizeof(int));
  long total = 0;
  int next = 0, working = 0;
  for (int stopped = 0; stopped < size - 1;) {
    MPI_Status status;
    int bytes;
    MPI_Recv(result, 40000, MPI_BYTE, MPI_ANY_SOURCE, tag_ask, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes > 0) {
      ++done_by[status.MPI_SOURCE];
      total += bytes;
      --working;
    }
    const int more = next < tasks;
    MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, more ? tag_task : tag_stop, MPI_COMM_WORLD);
    if (more) {
      ++next;
      ++working;
    } else {
      ++stopped;
    }
  }
  long expected = 0;
  int most = 0, least = tasks;
  for (int t = 0; t < tasks; ++t) expected += bytes_of(t);
  for (int w = 1; w < size; ++w) {
    if (done_by[w] > most) most = done_by[w];
    if (done_by[w] < least) least = done_by[w];
  }
  printf("%d tasks by %d workers, %d to %d each, %ld bytes of results%s, done at %.3f us\n", tasks,
         size - 1, least, most, total, total == expected && working == 0 ? "" : " (WRONG)",
         MPI_Wtime() * 1e6);
  free(result);
  free(done_by);
}

static void worker(void) {
  char* const result = calloc(1, 40000);
  int bytes = 0;
  for (;;) {
    int task;
    MPI_Status status;
    MPI_Send(result, bytes, MPI_BYTE, 0, tag_ask, MPI_COMM_WORLD);
    MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == tag_stop) break;
    bytes = bytes_of(task);
  }
  free(result);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    master(size, argc > 1 ? atoi(argv[1]) : 200);
  } else {
    worker();
  }
  MPI_Finalize();
  return 0;
}
