/* SPDX-License-Identifier: Apache-2.0
 * All-to-all by Bruck's algorithm, as an ordinary program of sends and receives: log2(ranks) steps,
 * in each of which every rank sends half of its blocks. Usage: bruck [BYTES PER BLOCK] [check].
 * With "check" and --payload=full the result is verified. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks with this bit in their number. */
static size_t blocks_with(int step, int size) {
  const int rest = size % (2 * step) - step;
  return (size_t)(size / (2 * step)) * (size_t)step + (size_t)(rest > 0 ? rest : 0);
}

static void exchange(char* blocks, char* out, char* in, int rank, int size, size_t block,
                     int data) {
  for (int step = 1; step < size; step <<= 1) {
    const size_t count = blocks_with(step, size);
    char* next = out;
    for (int i = step; i < size && data; ++i) {
      if ((i & step) == 0) continue;
      memcpy(next, blocks + (size_t)i * block, block);
      next += block;
    }
    const int to = (rank + step) % size, from = (rank + size - step) % size;
    MPI_Sendrecv(out, (int)(count * block), MPI_BYTE, to, step, in, (int)(count * block), MPI_BYTE,
                 from, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    next = in;
    for (int i = step; i < size && data; ++i) {
      if ((i & step) == 0) continue;
      memcpy(blocks + (size_t)i * block, next, block);
      next += block;
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t block = argc > 1 ? (size_t)atol(argv[1]) : 4;
  const int check = argc > 2 && strcmp(argv[2], "check") == 0;
  /* Without data the memory is asked for but never touched: thousands of ranks fit. */
  const size_t bytes = block * (size_t)size;
  char *blocks = malloc(bytes), *out = malloc(bytes), *in = malloc(bytes);
  if (blocks == NULL || out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  /* Block i begins as the one for rank + i, ... */
  for (int i = 0; check && i < size; ++i)
    memset(blocks + (size_t)i * block, (rank * 7 + (rank + i) % size) & 0xff, block);
  struct {
    double seconds;
    int rank;
  } mine = {0, rank}, slowest = {0, 0};
  const double begin = MPI_Wtime();
  exchange(blocks, out, in, rank, size, block, check);
  mine.seconds = MPI_Wtime() - begin;
  /* ... and ends as the one from rank - i. */
  for (int i = 0; check && i < size; ++i) {
    const int from = (rank + size - i) % size;
    for (size_t k = 0; k < block; ++k)
      wrong += (unsigned char)blocks[(size_t)i * block + k] != ((from * 7 + rank) & 0xff);
  }
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, %zu-byte blocks: %.3f us on rank %d, the slowest%s\n", size, block,
           slowest.seconds * 1e6, slowest.rank, check ? ", checked" : "");
  if (wrong > 0) printf("rank %d: %d bytes are wrong\n", rank, wrong);
  free(blocks);
  free(out);
  free(in);
  MPI_Finalize();
  return wrong > 0;
}
