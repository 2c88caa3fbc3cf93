/* SPDX-License-Identifier: Apache-2.0
 * Never ends: ranks meet again and again, or, with an argument, rank 1 computes without a call;
 * with two it crashes. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    puts("begun");
    fflush(stdout);
  }
  if (argc > 2 && rank == 1) *(volatile int*)0 = 1;
  for (volatile int i = 0; argc > 1 && rank == 1;) ++i;
  for (;;) MPI_Barrier(MPI_COMM_WORLD);
}
