/* SPDX-License-Identifier: Apache-2.0 */
/* A message that is under way when an hour is full: nobody waits in vain. */
#include <mgen_extensions.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int bytes = 1000000;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* const block = malloc((size_t)bytes);
  MGEN_Advance(3599.99998);
  MPI_Sendrecv(block, bytes, MPI_CHAR, (rank + 1) % size, 0, block, bytes, MPI_CHAR,
               (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("done at %.6f s\n", MPI_Wtime());
  free(block);
  MPI_Finalize();
  return 0;
}
