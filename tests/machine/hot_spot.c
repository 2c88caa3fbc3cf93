/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank sends to rank 0 at the same time. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 40000, rounds = 3 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* const data = malloc(bytes);
  memset(data, 1, bytes);
  for (int round = 0; round < rounds; ++round) {
    if (rank > 0) MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    for (int from = 1; rank == 0 && from < size; ++from)
      MPI_Recv(data, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(data);
  MPI_Finalize();
  return 0;
}
