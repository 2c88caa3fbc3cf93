/* SPDX-License-Identifier: Apache-2.0 */
/* One all-reduce of BYTES, and how long it takes until the slowest rank has it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2 || atoll(argv[1]) < (long long)sizeof(double)) {
    fprintf(stderr, "usage: ring BYTES\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const MPI_Count count = atoll(argv[1]) / (long long)sizeof(double);
  double* const own = calloc((size_t)count, sizeof(double));
  double* const sum = calloc((size_t)count, sizeof(double));
  double time = -MPI_Wtime(), longest = 0;
  MPI_Allreduce_c(own, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  time += MPI_Wtime();
  MPI_Reduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%.3f us\n", longest * 1e6);
  free(own);
  free(sum);
  MPI_Finalize();
  return 0;
}
