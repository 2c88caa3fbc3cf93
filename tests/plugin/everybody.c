/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank sends every other 4 KiB at once: packets meet, and routing matters. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* const out = calloc((size_t)ranks, 4096);
  char* const in = calloc((size_t)ranks, 4096);
  MPI_Alltoall(out, 4096, MPI_CHAR, in, 4096, MPI_CHAR, MPI_COMM_WORLD);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
