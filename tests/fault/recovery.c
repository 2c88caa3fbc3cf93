/* SPDX-License-Identifier: Apache-2.0
 * Ranks are killed in the middle of their work; the others go on with those that are left.
 *
 * Usage: recovery WORK [RANK:MICROSECONDS]...
 *
 * Each named rank is killed so long after the work has begun. The others end when they know of all
 * that, and have worked well for some rounds since. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { few = 4, many = 1 << 18, rounds_well = 5 };

static int* out;
static int* in;
static int wrong = 0;

static void die(int number) {
  (void)number;
  kill(getpid(), SIGKILL);
}

static void die_after(long microseconds) {
  const struct itimerval at = {{0, 0}, {microseconds / 1000000, microseconds % 1000000}};
  signal(SIGALRM, die);
  setitimer(ITIMER_REAL, &at, NULL);
}

static void fill(int* data, int count, int value) {
  for (int i = 0; i < count; ++i) data[i] = value + i;
}

static void check(const int* data, int count, int value, int step) {
  for (int i = 0; i < count; ++i) wrong += data[i] != value + i * step;
}

static int ring(MPI_Comm comm, int rank, int size, int count) {
  fill(out, count, rank);
  const int code = MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, 1, in, count, MPI_INT,
                                (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) check(in, count, (rank + size - 1) % size, 1);
  return code;
}

static int to_first(MPI_Comm comm, int rank, int size) {
  if (rank != 0) return MPI_Send(&rank, 1, MPI_INT, 0, 2, comm);
  int sum = 0;
  for (int i = 1; i < size; ++i) {
    int one = 0;
    const int code = MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    sum += one;
  }
  wrong += sum != size * (size - 1) / 2;
  return MPI_SUCCESS;
}

static int allreduce(MPI_Comm comm, int size, int count) {
  fill(out, count, 1);
  const int code = MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, comm);
  if (code == MPI_SUCCESS) check(in, count, size, size);
  return code;
}

static int started(MPI_Comm comm, int rank, int size) {
  MPI_Request requests[3];
  int sum = 0;
  fill(out, few, rank);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Irecv(in, few, MPI_INT, (rank + 1) % size, 3, comm, &requests[1]);
  MPI_Isend(out, few, MPI_INT, (rank + size - 1) % size, 3, comm, &requests[2]);
  const int code = MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  if (code == MPI_SUCCESS) {
    wrong += sum != size * (size - 1) / 2;
    check(in, few, (rank + 1) % size, 1);
    return code;
  }
  MPI_Comm_revoke(comm); /* Ends what is still open. */
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  return code;
}

/* All take part in each, also those whose barrier has failed. */
static int shrinks(MPI_Comm comm) {
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    MPI_Comm left;
    wrong += MPI_Comm_shrink(comm, &left) != MPI_SUCCESS;
    failed = MPI_Barrier(left) != MPI_SUCCESS;
    MPI_Comm_free(&left);
  }
  return failed;
}

/* All that come to an agreement have the same value, so it may decide what they do. */
static int agreements(MPI_Comm comm, int rank) {
  for (int i = 0; i < 50; ++i) {
    int value = ~(1 << rank);
    const int code = MPI_Comm_agree(comm, &value);
    wrong += (value & 1 << rank) != 0;
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

static int work(const char* what, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (strcmp(what, "ring") == 0) return ring(comm, rank, size, few);
  if (strcmp(what, "large") == 0) return ring(comm, rank, size, many);
  if (strcmp(what, "any") == 0) return to_first(comm, rank, size);
  if (strcmp(what, "barrier") == 0) return MPI_Barrier(comm);
  if (strcmp(what, "allreduce") == 0) return allreduce(comm, size, few);
  if (strcmp(what, "reduce-large") == 0) return allreduce(comm, size, many);
  if (strcmp(what, "alltoall") == 0)
    return MPI_Alltoall(out, 1000, MPI_INT, in, 1000, MPI_INT, comm);
  if (strcmp(what, "started") == 0) return started(comm, rank, size);
  if (strcmp(what, "shrink") == 0) return shrinks(comm);
  if (strcmp(what, "agree") == 0) return agreements(comm, rank);
  if (strcmp(what, "split") == 0) {
    MPI_Comm part;
    const int code = MPI_Comm_split(comm, rank % 2, rank, &part);
    if (code == MPI_SUCCESS) MPI_Comm_free(&part);
    return code;
  }
  fprintf(stderr, "no such work: %s\n", what);
  exit(2);
}

static int failed_members(MPI_Comm comm) {
  MPI_Group failed;
  int count = 0;
  MPI_Comm_get_failed(comm, &failed);
  MPI_Group_size(failed, &count);
  MPI_Group_free(&failed);
  return count;
}

static MPI_Comm shrunk(MPI_Comm comm) {
  MPI_Comm left;
  MPI_Comm_shrink(comm, &left);
  MPI_Comm_free(&comm);
  return left;
}

int main(int count, char** words) {
  int rank, size, well = 0, began_again = 0;
  MPI_Comm comm;
  MPI_Init(NULL, NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = malloc(sizeof(int) * many);
  in = malloc(sizeof(int) * many);
  memset(out, 0, sizeof(int) * many);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  /* Whoever leaves the barrier knows that all have the communicator, and nobody dies before. At
     others it may fail, which does not matter. */
  MPI_Barrier(comm);
  for (int i = 2; i < count; ++i) {
    if (atoi(words[i]) == rank) die_after(atol(strchr(words[i], ':') + 1));
  }
  while (well < rounds_well) {
    int fine = work(words[1], comm) == MPI_SUCCESS ? 1 : 0;
    if (!fine) MPI_Comm_revoke(comm);
    if (failed_members(MPI_COMM_WORLD) >= count - 2) fine |= 2;
    const int code = MPI_Comm_agree(comm, &fine);
    if (code == MPI_SUCCESS && fine & 1) {
      if (fine & 2) ++well;
      continue;
    }
    comm = shrunk(comm);
    well = 0;
    ++began_again;
  }
  int left;
  MPI_Comm_size(comm, &left);
  if (left != size - (count - 2)) ++wrong;
  printf("rank %d: %d left, %d wrong%s\n", rank, left, wrong,
         count > 2 && began_again == 0 ? ", never began again" : "");
  fflush(stdout);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return wrong != 0;
}
