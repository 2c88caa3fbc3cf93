/* SPDX-License-Identifier: Apache-2.0
 * A block of a grid per rank, in three dimensions; in every iteration each rank swaps the six faces
 * of its block with its neighbours. Usage: halo3d [ITERATIONS] [FACE BYTES] [check] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0;
  int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1};
  MPI_Comm grid;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int iterations = argc > 1 ? atoi(argv[1]) : 10;
  const int face = argc > 2 ? atoi(argv[2]) : 8192;
  const int check = argc > 3 && strcmp(argv[3], "check") == 0;
  MPI_Dims_create(size, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  char* const out = calloc(6, (size_t)face);
  char* const in = calloc(6, (size_t)face);
  int neighbour[6];
  for (int d = 0; d < 3; ++d) MPI_Cart_shift(grid, d, 1, &neighbour[2 * d], &neighbour[2 * d + 1]);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    MPI_Request requests[12];
    for (int f = 0; f < 6; ++f) {
      /* What goes out through a face comes in through the opposite one. */
      MPI_Irecv(in + f * face, face, MPI_BYTE, neighbour[f], f, grid, &requests[f]);
      if (check) memset(out + f * face, (rank + 31 * i + 7 * f) & 0xff, (size_t)face);
    }
    for (int f = 0; f < 6; ++f)
      MPI_Isend(out + f * face, face, MPI_BYTE, neighbour[f], f ^ 1, grid, &requests[6 + f]);
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    for (int f = 0; check && f < 6; ++f) {
      const char expected = (char)((neighbour[f] + 31 * i + 7 * (f ^ 1)) & 0xff);
      for (int k = 0; k < face; ++k) wrong += in[f * face + k] != expected;
    }
  }
  const double mine = MPI_Wtime() - begin;
  if (rank == 0) {
    printf("%d ranks as %dx%dx%d, %d iterations with faces of %d bytes: %.3f us each%s\n", size,
           dims[0], dims[1], dims[2], iterations, face, mine * 1e6 / iterations,
           check ? ", checked" : "");
  }
  if (wrong > 0) printf("rank %d: %d bytes are wrong\n", rank, wrong);
  free(out);
  free(in);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return wrong > 0;
}
