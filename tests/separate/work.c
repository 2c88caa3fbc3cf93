/* SPDX-License-Identifier: Apache-2.0
 * A bit of everything that goes through the network, with results and times of every rank. Run with
 * ranks in one process and in processes of their own, it prints the same. */
#include <mgen.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int rank, ranks;
static double sum;

static void say(const char* what) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%d %s %.0f at %.12f %ld\n", rank, what, sum, MPI_Wtime(), now.tv_nsec);
}

/* From 8 bytes to 1 MiB: eager messages and rendezvous. */
static void ring(void) {
  for (int count = 1; count <= 1 << 17; count *= 8) {
    double* const out = malloc(sizeof(double) * count);
    double* const in = malloc(sizeof(double) * count);
    for (int i = 0; i < count; ++i) out[i] = rank + i;
    MPI_Sendrecv(out, count, MPI_DOUBLE, (rank + 1) % ranks, 1, in, count, MPI_DOUBLE,
                 (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += in[0] + in[count - 1];
    free(out);
    free(in);
  }
  say("ring");
}

static void collectives(void) {
  double mine = rank, all = 0;
  int* const blocks = malloc(sizeof(int) * ranks * 2);
  int* const got = malloc(sizeof(int) * ranks * 2);
  for (int i = 0; i < ranks; ++i) blocks[i] = rank * ranks + i;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(blocks, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) sum += got[i];
  MPI_Bcast(&all, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
  sum += all;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, half);
  sum += got[0];
  MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_WORLD);
  free(blocks);
  free(got);
  say("collectives");
}

static void polling(void) {
  int flag = 0, value = rank;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % ranks, 2, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  sum += value;
  MPI_Status status;
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD);
  for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &status);
  MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sum += value;
  say("polling");
}

/* Enough for both protocols of one-sided communication. */
static void one_sided(void) {
  enum { large = 40000 };
  double* memory;
  double* const own = malloc(sizeof(double) * large);
  MPI_Win window;
  MPI_Win_allocate(sizeof(double) * large * 2, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  for (int i = 0; i < large; ++i) own[i] = rank * 3 + i;
  for (int i = 0; i < large * 2; ++i) memory[i] = 0;
  MPI_Win_fence(0, window);
  MPI_Put(own, large, MPI_DOUBLE, (rank + 1) % ranks, 0, large, MPI_DOUBLE, window);
  MPI_Accumulate(own, 2, MPI_DOUBLE, 0, large, 2, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  sum += memory[0] + memory[large - 1] + memory[large];
  MPI_Win_lock(MPI_LOCK_SHARED, (rank + 2) % ranks, 0, window);
  MPI_Get(own, large, MPI_DOUBLE, (rank + 2) % ranks, 0, large, MPI_DOUBLE, window);
  MPI_Win_unlock((rank + 2) % ranks, window);
  sum += own[7];
  MPI_Win_free(&window);
  free(own);
  say("one-sided");
}

static void own_state(void) {
  static int calls;
  ++calls;
  MGEN_Advance(1e-6 * (rank + 1));
  MGEN_Stats_start("own");
  srand((unsigned)rank);
  sum += calls;
  MPI_Barrier(MPI_COMM_WORLD);
  MGEN_Stats_stop();
  say("own state");
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  printf("%d on %s\n", rank, name);
  ring();
  collectives();
  polling();
  one_sided();
  own_state();
  MPI_Finalize();
  return 0;
}
