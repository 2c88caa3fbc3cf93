/* SPDX-License-Identifier: Apache-2.0
 * Memory from the C library's functions, small and large, is what it should be in every rank; the
 * exit code says so. Also without the simulator. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
#define CHECK(what)                                                 \
  do {                                                              \
    if (!(what)) wrong += printf("line %d: %s\n", __LINE__, #what); \
  } while (0)

static int all(const unsigned char* data, size_t size, int value) {
  for (size_t i = 0; i < size; ++i)
    if (data[i] != value) return 0;
  return 1;
}

static void check_size(size_t size, int rank) {
  unsigned char* block = malloc(size);
  CHECK(block != NULL && malloc_usable_size(block) >= size && (uintptr_t)block % 16 == 0);
  memset(block, rank + 1, size);
  block = realloc(block, size * 3);
  CHECK(all(block, size, rank + 1));
  memset(block, rank + 2, size * 3);
  block = realloc(block, size / 2 + 1);
  CHECK(all(block, size / 2 + 1, rank + 2));
  block = reallocarray(block, 2, size);
  CHECK(all(block, size / 2 + 1, rank + 2));
  free(block);
  unsigned char* zero = calloc(size, 1); /* Likely the memory that was just freed. */
  CHECK(all(zero, size, 0));
  free(zero);
  for (size_t alignment = 16; alignment <= 1 << 21; alignment *= 8) {
    void *one = NULL, *other = aligned_alloc(alignment, size), *third = memalign(alignment, size);
    CHECK(posix_memalign(&one, alignment, size) == 0);
    CHECK(((uintptr_t)one | (uintptr_t)other | (uintptr_t)third) % alignment == 0);
    memset(one, 1, size);
    memset(other, 2, size);
    memset(third, 3, size);
    CHECK(all(one, size, 1) && all(other, size, 2));
    free(one);
    free(other);
    free(third);
  }
}

static void check_refusals(void) {
  void* block = (void*)&wrong;
  volatile size_t huge = SIZE_MAX / 2;
  errno = 0;
  CHECK(malloc(huge) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(calloc(huge, 4) == NULL && errno == ENOMEM);
  CHECK(posix_memalign(&block, 64, huge) == ENOMEM && posix_memalign(&block, 24, 1) == EINVAL);
  CHECK(block == (void*)&wrong);
  char* kept = malloc(100000);
  kept[99999] = 5;
  CHECK(realloc(kept, huge) == NULL && kept[99999] == 5);
  errno = 77;
  free(kept);
  CHECK(errno == 77);
  free(NULL);
  CHECK(malloc_usable_size(NULL) == 0);
}

static int mappings(void) {
  int lines = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  for (int c = getc(file); c != EOF; c = getc(file)) lines += c == '\n';
  fclose(file);
  return lines;
}

/* Simulated ranks live in one process: memory may be freed by another than asked for it. */
static void check_exchange(int rank, int size) {
  int64_t mine = (int64_t)malloc(300000), other = 0;
  memset((void*)mine, rank, 300000);
  MPI_Sendrecv(&mine, 8, MPI_BYTE, (rank + 1) % size, 0, &other, 8, MPI_BYTE,
               (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(all((unsigned char*)other, 300000, (rank + size - 1) % size));
  free((void*)other);
}

static void check_many(int rank, int size) {
  enum { count = 300 };
  char* blocks[count];
  const int before = mappings();
  for (int i = 0; i < count; ++i) {
    blocks[i] = malloc(200000);
    blocks[i][100000] = (char)(i + rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (size > 1) CHECK(mappings() < before + count / 2);
  for (int i = 0; i < count; ++i) {
    CHECK(blocks[i][100000] == (char)(i + rank));
    free(blocks[i]);
  }
}

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t sizes[] = {1, 100, 16383, 16384, 65536, 65537, 1000000, 5000000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) check_size(sizes[i], rank);
  check_refusals();
  check_exchange(rank, size);
  check_many(rank, size);
  MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %s\n", size, sum == 0 ? "all right" : "wrong");
  MPI_Finalize();
  return sum != 0;
}
