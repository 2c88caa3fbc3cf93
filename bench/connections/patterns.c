/* SPDX-License-Identifier: Apache-2.0
 * Who talks to whom: patterns [idle|alltoall|halo|random|ring] [BYTES] [ROUNDS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* out;
static char* in;
static int bytes;

static void exchange(int to, int from) {
  MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/* In an order in which nobody is asked by two at once. */
static void all_to_all(int rank, int size) {
  for (int i = 1; i < size; ++i) exchange((rank + i) % size, (rank + size - i) % size);
}

static void halo(int rank, int size) {
  int dims[3] = {0, 0, 0};
  MPI_Dims_create(size, 3, dims);
  int stride = 1;
  for (int d = 0; d < 3; ++d) {
    const int place = rank / stride % dims[d];
    const int up = rank + (place + 1 == dims[d] ? 1 - dims[d] : 1) * stride;
    const int down = rank + (place == 0 ? dims[d] - 1 : -1) * stride;
    exchange(up, down);
    exchange(down, up);
    stride *= dims[d];
  }
}

/* A shift that all ranks draw alike: everybody sends to one, and one sends to everybody. */
static void at_random(int rank, int size, int round) {
  unsigned x = 2463534242u + (unsigned)round * 7919u;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  const int shift = 1 + (int)(x % (unsigned)(size - 1));
  exchange((rank + shift) % size, (rank + size - shift) % size);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* pattern = argc > 1 ? argv[1] : "idle";
  bytes = argc > 2 ? atoi(argv[2]) : 0;
  const int rounds = argc > 3 ? atoi(argv[3]) : 1;
  out = calloc((size_t)bytes + 1, 1);
  in = calloc((size_t)bytes + 1, 1);
  for (int round = 0; size > 1 && round < rounds; ++round) {
    if (strcmp(pattern, "alltoall") == 0) all_to_all(rank, size);
    if (strcmp(pattern, "halo") == 0) halo(rank, size);
    if (strcmp(pattern, "random") == 0) at_random(rank, size, round);
    if (strcmp(pattern, "ring") == 0) exchange((rank + 1) % size, (rank + size - 1) % size);
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
