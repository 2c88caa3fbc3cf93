/* SPDX-License-Identifier: Apache-2.0
 * Calls a shared library once in each rank; the calls of others are no business of a rank. */
#include <mpi.h>
#include <stdio.h>

int count_call(void);

int main(int count, char** arguments) {
  int rank = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: call %d\n", rank, count_call());
  MPI_Finalize();
  return 0;
}
