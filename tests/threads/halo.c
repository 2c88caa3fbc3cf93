/* SPDX-License-Identifier: Apache-2.0 */
/* halo ROUNDS: a ring of cells, each the mean of its neighbours in the next round. OpenMP shares
   out the cells of a rank, the main thread exchanges the borders. Rank 0 compares with a
   computation of its own, and prints the time in parallel regions: 8 ms of work a round, which
   MGEN_Advance spends. */
#include <mgen.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 64 };
static const double work = 8e-3;

static long next(long left, long own, long right) {
  return (left + 2 * own + right) % 1000003;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  int provided = 0, rank = 0, ranks = 0, threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  long own[cells + 2], new[cells + 2];
  for (int i = 1; i <= cells; ++i) own[i] = (rank * cells + i) * 37L;
  double in_regions = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Sendrecv(&own[1], 1, MPI_LONG, left, 0, &own[cells + 1], 1, MPI_LONG, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&own[cells], 1, MPI_LONG, right, 1, &own[0], 1, MPI_LONG, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const double begin = MPI_Wtime();
#pragma omp parallel
    {
#pragma omp single
      threads = omp_get_num_threads();
#pragma omp for
      for (int i = 1; i <= cells; ++i) new[i] = next(own[i - 1], own[i], own[i + 1]);
      MGEN_Advance(work / threads);
    }
    in_regions += MPI_Wtime() - begin;
    for (int i = 1; i <= cells; ++i) own[i] = new[i];
  }
  long *all = malloc(sizeof(long) * cells * ranks), *alone = malloc(sizeof(long) * cells * ranks),
       *later = malloc(sizeof(long) * cells * ranks);
  MPI_Gather(&own[1], cells, MPI_LONG, all, cells, MPI_LONG, 0, MPI_COMM_WORLD);
  const int total = cells * ranks;
  for (int i = 0; i < total; ++i) alone[i] = (i + 1) * 37L;
  int wrong = 0;
  if (rank == 0) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < total; ++i)
        later[i] = next(alone[(i + total - 1) % total], alone[i], alone[(i + 1) % total]);
      for (int i = 0; i < total; ++i) alone[i] = later[i];
    }
    for (int i = 0; i < total; ++i) wrong += all[i] != alone[i];
    printf("%d threads, %d wrong, %.6f ms in regions\n", threads, wrong, in_regions * 1e3);
  }
  MPI_Finalize();
  return wrong != 0;
}
