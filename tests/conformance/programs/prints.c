/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what prints.out says. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("a table\nof two lines\n");
  MPI_Finalize();
  return 0;
}
