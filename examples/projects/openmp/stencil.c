/* SPDX-License-Identifier: Apache-2.0
 * A grid that is swept by all threads of a rank, with borders that one of them swaps.
 * Usage: stencil [POINTS ON A SIDE] [SWEEPS]
 * The grid is the same whatever the number of ranks, so more of them have less each. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int provided, rank, ranks, threads = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED) {
    fprintf(stderr, "stencil: this MPI library takes no threads\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int side = argc > 1 ? atoi(argv[1]) : 1024, sweeps = argc > 2 ? atoi(argv[2]) : 10;
  const int first = (int)((long)side * rank / ranks);
  const int rows = (int)((long)side * (rank + 1) / ranks) - first;
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double* old = calloc((size_t)(rows + 2) * side, sizeof(double));
  double* new = calloc((size_t)(rows + 2) * side, sizeof(double));
  for (int i = 1; i <= rows; ++i) /* The same for any number of ranks, and uneven everywhere. */
    for (int j = 1; j < side - 1; ++j) old[(size_t)i * side + j] = (7 * (first + i) + 3 * j) % 16;

  const double start = MPI_Wtime();
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp master
      {
        MPI_Sendrecv(old + (size_t)rows * side, side, MPI_DOUBLE, below, 0, old, side, MPI_DOUBLE,
                     above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(old + side, side, MPI_DOUBLE, above, 1, old + (size_t)(rows + 1) * side, side,
                     MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
#pragma omp barrier
#pragma omp for schedule(static)
      for (int i = 1; i <= rows; ++i)
        for (int j = 1; j < side - 1; ++j) {
          const size_t at = (size_t)i * side + j;
          new[at] = 0.2 * (old[at] + old[at - 1] + old[at + 1] + old[at - side] + old[at + side]);
        }
#pragma omp single
      {
        double* const swap = old;
        old = new;
        new = swap;
      }
    }
  }
  const double took = MPI_Wtime() - start;

  double sum = 0, all = 0, longest = 0;
#pragma omp parallel for reduction(+ : sum)
  for (size_t i = (size_t)side; i < (size_t)(rows + 1) * side; ++i) sum += old[i];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks of %d threads: sum %.3f, a sweep takes %.3f ms\n", ranks, threads, all,
           longest / sweeps * 1e3);
  free(old);
  free(new);
  MPI_Finalize();
  return 0;
}
