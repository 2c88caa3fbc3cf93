/* SPDX-License-Identifier: Apache-2.0
 * A block of a grid per rank, in three dimensions; in every iteration each rank swaps the six faces
 * of its block with its neighbours: all at once, or those of one dimension after the other, as
 * codes do whose faces shall hand on edges and corners.
 * Usage: halo3d [ITERATIONS] [FACE BYTES] [check] [in-turn] [by-hand]
 * by-hand: neighbours by arithmetic on MPI_COMM_WORLD, so without a collective call before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As MPI_Cart_shift by one in a periodic grid whose last dimension is the fastest. */
static void shift(const int dims[3], int rank, int d, int* before, int* after) {
  const int stride = d == 2 ? 1 : d == 1 ? dims[2] : dims[1] * dims[2];
  const int at = rank / stride % dims[d], zero = rank - at * stride;
  *before = zero + (at + dims[d] - 1) % dims[d] * stride;
  *after = zero + (at + 1) % dims[d] * stride;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0;
  int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1};
  MPI_Comm grid = MPI_COMM_WORLD;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int iterations = argc > 1 ? atoi(argv[1]) : 10;
  const int face = argc > 2 ? atoi(argv[2]) : 8192;
  int check = 0, by_hand = 0, step = 6; /* Faces that are swapped at once. */
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "check") == 0) check = 1;
    if (strcmp(argv[i], "in-turn") == 0) step = 2;
    if (strcmp(argv[i], "by-hand") == 0) by_hand = 1;
  }
  MPI_Dims_create(size, 3, dims);
  if (!by_hand) MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  char* const out = calloc(6, (size_t)face);
  char* const in = calloc(6, (size_t)face);
  int neighbour[6];
  for (int d = 0; d < 3; ++d) {
    int *const before = &neighbour[2 * d], *const after = before + 1;
    if (by_hand)
      shift(dims, rank, d, before, after);
    else
      MPI_Cart_shift(grid, d, 1, before, after);
  }
  struct {
    double seconds;
    int rank;
  } mine = {0, rank}, slowest = {0, 0};
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    for (int first = 0; first < 6; first += step) {
      MPI_Request requests[12], *next = requests;
      for (int f = first; f < first + step; ++f) {
        /* What goes out through a face comes in through the opposite one. */
        MPI_Irecv(in + f * face, face, MPI_BYTE, neighbour[f], f, grid, next++);
        if (check) memset(out + f * face, (rank + 31 * i + 7 * f) & 0xff, (size_t)face);
      }
      for (int f = first; f < first + step; ++f)
        MPI_Isend(out + f * face, face, MPI_BYTE, neighbour[f], f ^ 1, grid, next++);
      MPI_Waitall(2 * step, requests, MPI_STATUSES_IGNORE);
    }
    for (int f = 0; check && f < 6; ++f) {
      const char expected = (char)((neighbour[f] + 31 * i + 7 * (f ^ 1)) & 0xff);
      for (int k = 0; k < face; ++k) wrong += in[f * face + k] != expected;
    }
  }
  mine.seconds = MPI_Wtime() - begin;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, grid);
  if (rank == 0) {
    printf("%d ranks as %dx%dx%d, %d iterations with faces of %d bytes: %.3f us each", size,
           dims[0], dims[1], dims[2], iterations, face, slowest.seconds * 1e6 / iterations);
    printf(" on rank %d, the slowest%s\n", slowest.rank, check ? ", checked" : "");
  }
  if (wrong > 0) printf("rank %d: %d bytes are wrong\n", rank, wrong);
  free(out);
  free(in);
  if (!by_hand) MPI_Comm_free(&grid);
  MPI_Finalize();
  return wrong > 0;
}
