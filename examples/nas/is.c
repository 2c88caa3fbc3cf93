/* SPDX-License-Identifier: Apache-2.0
 * IS, "integer sort": ranks small integers of a bell-shaped distribution. Keys are counted by
 * buckets, buckets are given to ranks so that all get about as many, and keys go where their bucket
 * is. Usage: is [LOG2 OF KEYS] [ROUNDS] */
#include "random46.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { log_range = 11, range = 1 << log_range, log_buckets = 7, buckets = 1 << log_buckets };

static int bucket_of(int key) {
  return key >> (log_range - log_buckets);
}

/* The mean of four uniform numbers. */
static int next_key(Random46* x) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += random46_next(x);
  return (int)(sum * (range / 4));
}

typedef struct {
  int rank, size, count; /* `count` keys are ours in the beginning. */
  int* keys;
  int* sorted;
  int sorted_count;
} Part;

/* Which rank has each bucket: the i-th has what lies around i/size of all keys. */
static void share_out(const int* all_counts, int size, int* owner) {
  long long total = 0, before = 0;
  for (int i = 0; i < buckets; ++i) total += all_counts[i];
  for (int i = 0; i < buckets; ++i) {
    const long long middle = before + all_counts[i] / 2;
    owner[i] = total == 0 ? 0 : (int)(middle * size / total);
    if (owner[i] >= size) owner[i] = size - 1;
    before += all_counts[i];
  }
}

/* Keys in the order of their buckets, and how many go to each rank. */
static int* by_bucket(const Part* part, const int* counts, const int* owner, int* send) {
  int at[buckets], *const out = malloc(((size_t)part->count + 1) * sizeof *out);
  for (int i = 0, sum = 0; i < buckets; sum += counts[i++]) at[i] = sum;
  for (int i = 0; i < part->count; ++i) {
    const int b = bucket_of(part->keys[i]);
    out[at[b]++] = part->keys[i];
    ++send[owner[b]];
  }
  return out;
}

static void count_sort(int* keys, int count) {
  int counts[range] = {0}, at = 0;
  for (int i = 0; i < count; ++i) ++counts[keys[i]];
  for (int key = 0; key < range; ++key)
    while (counts[key]-- > 0) keys[at++] = key;
}

static void sort(Part* part) {
  const int size = part->size;
  int counts[buckets] = {0}, all_counts[buckets], owner[buckets];
  int* const places = calloc(4 * (size_t)size, sizeof *places);
  int *const send = places, *const get = places + size, *const send_at = places + 2 * size,
             *const get_at = places + 3 * size;
  for (int i = 0; i < part->count; ++i) ++counts[bucket_of(part->keys[i])];
  MPI_Allreduce(counts, all_counts, buckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  share_out(all_counts, size, owner);
  int* const ordered = by_bucket(part, counts, owner, send);
  MPI_Alltoall(send, 1, MPI_INT, get, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 1; i < size; ++i) {
    send_at[i] = send_at[i - 1] + send[i - 1];
    get_at[i] = get_at[i - 1] + get[i - 1];
  }
  part->sorted_count = get_at[size - 1] + get[size - 1];
  part->sorted = realloc(part->sorted, ((size_t)part->sorted_count + 1) * sizeof(int));
  MPI_Alltoallv(ordered, send, send_at, MPI_INT, part->sorted, get, get_at, MPI_INT,
                MPI_COMM_WORLD);
  count_sort(part->sorted, part->sorted_count);
  free(ordered);
  free(places);
}

/* A serial count of all keys. */
static void count_all(long long keys, long long* expected) {
  Random46 x = random46_at(0);
  for (long long i = 0; i < keys; ++i) ++expected[next_key(&x)];
}

/* Our keys must stand exactly where the serial count says. */
static int is_wrong(const Part* part, long long keys, const long long* expected) {
  long long first = 0, mine = part->sorted_count, below = 0;
  MPI_Exscan(&mine, &first, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (part->rank == 0) first = 0;
  int key = 0;
  for (long long i = 0; i < mine; ++i) {
    while (below + expected[key] <= first + i) below += expected[key++];
    if (part->sorted[i] != key) return 1;
  }
  return part->rank == part->size - 1 && first + mine != keys;
}

int main(int argc, char** argv) {
  Part part = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &part.size);
  const long long keys = 1ll << (argc > 1 ? atoi(argv[1]) : 14);
  const int rounds = argc > 2 ? atoi(argv[2]) : 4;
  const long long from = keys * part.rank / part.size, to = keys * (part.rank + 1) / part.size;
  part.count = (int)(to - from);
  part.keys = malloc(((size_t)part.count + 1) * sizeof(int));
  Random46 x = random46_at(4 * (uint64_t)from);
  for (int i = 0; i < part.count; ++i) part.keys[i] = next_key(&x);
  static long long expected[range];
  count_all(keys, expected);
  int wrong = 0, any = 0;
  for (int round = 0; round < rounds; ++round) {
    int old = -1; /* Every round moves a key, so that no two rounds are the same. */
    if (part.rank == 0 && part.count > 0) {
      old = part.keys[0];
      part.keys[0] = round;
    }
    MPI_Bcast(&old, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (old >= 0) {
      --expected[old];
      ++expected[round];
    }
    sort(&part);
    wrong |= is_wrong(&part, keys, expected);
  }
  const double end = MPI_Wtime();
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (part.rank == 0)
    printf("IS: %lld keys on %d ranks, %d rounds: %s at %.3f us\n", keys, part.size, rounds,
           any ? "WRONG" : "verified", end * 1e6);
  free(part.keys);
  free(part.sorted);
  MPI_Finalize();
  return wrong;
}
