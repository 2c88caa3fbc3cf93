/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 asks for a message that nobody sends. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, found = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (rank == 0 && !found) MPI_Iprobe(1, 5, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
