/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 takes all memory there is, and sees malloc refuse; then the library needs some. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, number = 0;
  size_t refused = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t size = (size_t)1 << 26; rank == 0 && size >= 16; size /= 2) {
    void* volatile block = malloc(size);
    while (block != NULL) block = malloc(size);
    ++refused;
  }
  if (rank == 0 && refused != 23) return 1;
  for (;;) MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
}
