/* SPDX-License-Identifier: Apache-2.0
 * Bandwidth of rings whose order is drawn at random, as HPC Challenge measures it: every rank sends
 * to both neighbours at once, and the rate counts both ways. Usage: random_ring [BYTES] [RINGS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The same order at every rank: all draw from the same seed. */
static void shuffle(int* order, int size, unsigned seed) {
  for (int i = 0; i < size; ++i) order[i] = i;
  for (int i = size - 1; i > 0; --i) {
    seed = seed * 1664525u + 1013904223u;
    const int k = (int)((seed >> 8) % (unsigned)(i + 1));
    const int t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = argc > 1 ? atoi(argv[1]) : 2000000;
  const int rings = argc > 2 ? atoi(argv[2]) : 3;
  int* const order = malloc((size_t)size * sizeof(int));
  char* const out = malloc(2 * (size_t)bytes);
  char* const in = malloc(2 * (size_t)bytes);
  double seconds = 0, slowest = 0;
  for (int r = 0; r < rings; ++r) {
    int me = 0;
    shuffle(order, size, 12345u + (unsigned)r);
    while (order[me] != rank) ++me;
    const int left = order[(me + size - 1) % size], right = order[(me + 1) % size];
    MPI_Request requests[4];
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Irecv(in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out + bytes, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    seconds += MPI_Wtime() - begin;
  }
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks: %.4f GB/s for the slowest rank over %d random rings\n", size,
           2.0 * bytes * rings / slowest / 1e9, rings);
  free(order);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
