/* SPDX-License-Identifier: Apache-2.0
 * Two messages travel round a ring of ranks, one each way. Who receives does not know from where
 * the next one comes. Written for MPI; with the line below it is a program of NSIM, and nothing
 * else changes. */
#include "mgen-mpi.h"
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, i, passed_on = 0;
  char byte = 0;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Send(&byte, 1, MPI_BYTE, left, 0, MPI_COMM_WORLD);
  MPI_Send(&byte, 1, MPI_BYTE, right, 0, MPI_COMM_WORLD);
  for (i = 0; i < size; ++i) {
    MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    const int onward = status.MPI_SOURCE == left ? right : left;
    MPI_Send(&byte, 1, MPI_BYTE, onward, 0, MPI_COMM_WORLD);
    ++passed_on;
  }
  MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  if (rank == 0)
    printf("%d ranks, %d messages passed on by rank 0, done at %.3f us\n", size, passed_on,
           MPI_Wtime() * 1e6);
  MPI_Finalize();
  return 0;
}
