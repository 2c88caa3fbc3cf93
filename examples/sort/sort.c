/* SPDX-License-Identifier: Apache-2.0
 * Sorts numbers that are spread over the ranks, by samples: what goes where depends on the data, so
 * it needs --payload=full. Usage: sort [NUMBERS PER RANK] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void* a, const void* b) {
  const unsigned x = *(const unsigned*)a, y = *(const unsigned*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  unsigned* const mine = malloc((size_t)count * sizeof(unsigned));
  unsigned seed = 1u + (unsigned)rank;
  unsigned long long sum = 0, sorted_sum = 0, totals[2], all[2];
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    mine[i] = seed >> 4;
    sum += mine[i];
  }
  qsort(mine, (size_t)count, sizeof(unsigned), compare);

  /* Every rank offers size - 1 samples; their quantiles cut the range. */
  unsigned* const samples = malloc((size_t)size * (size_t)size * sizeof(unsigned));
  unsigned* const own = malloc((size_t)size * sizeof(unsigned));
  for (int i = 0; i < size; ++i) own[i] = mine[(long)i * count / size];
  MPI_Allgather(own, size, MPI_UNSIGNED, samples, size, MPI_UNSIGNED, MPI_COMM_WORLD);
  qsort(samples, (size_t)size * (size_t)size, sizeof(unsigned), compare);
  int* const counts = calloc((size_t)size * 4, sizeof(int));
  int *const send = counts, *const send_at = counts + size, *const get = counts + 2 * size,
             *const get_at = counts + 3 * size;
  for (int i = 0, to = 0; i < count; ++i) {
    while (to < size - 1 && mine[i] >= samples[(to + 1) * size]) ++to;
    ++send[to];
  }
  MPI_Alltoall(send, 1, MPI_INT, get, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 1; i < size; ++i) {
    send_at[i] = send_at[i - 1] + send[i - 1];
    get_at[i] = get_at[i - 1] + get[i - 1];
  }
  const int got = get_at[size - 1] + get[size - 1];
  unsigned* const sorted = malloc((size_t)(got + 1) * sizeof(unsigned));
  MPI_Alltoallv(mine, send, send_at, MPI_UNSIGNED, sorted, get, get_at, MPI_UNSIGNED,
                MPI_COMM_WORLD);
  qsort(sorted, (size_t)got, sizeof(unsigned), compare);

  /* In order from rank to rank, and nothing lost. */
  unsigned low = got > 0 ? sorted[0] : 0xffffffffu, high = got > 0 ? sorted[got - 1] : 0,
           before = 0;
  MPI_Exscan(&high, &before, 1, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);
  int wrong = rank > 0 && got > 0 && before > low;
  for (int i = 0; i < got; ++i) sorted_sum += sorted[i];
  totals[0] = sum;
  totals[1] = sorted_sum;
  MPI_Allreduce(totals, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  wrong += all[0] != all[1];
  int any = 0;
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d numbers on %d ranks %s at %.3f us\n", count * size, size,
           any ? "are NOT sorted" : "sorted", MPI_Wtime() * 1e6);
  free(mine);
  free(samples);
  free(own);
  free(counts);
  free(sorted);
  MPI_Finalize();
  return wrong;
}
