// SPDX-License-Identifier: Apache-2.0
// Two ranks exchange messages and look at every byte. What is asked for is the first argument.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int rank, wrong;

static unsigned char value(size_t at, unsigned message) {
  uint64_t x = (at / 8 + 1) * 0x9e3779b97f4a7c15u + message * 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  return (unsigned char)(x >> (8 * (at % 8)));
}

static void fill(unsigned char* data, size_t size, unsigned message) {
  for (size_t i = 0; i < size; ++i) data[i] = value(i, message);
}

static void check(const unsigned char* data, size_t size, unsigned message) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == value(i, message)) continue;
    if (wrong++ < 5)
      fprintf(stderr, "rank %d: message %u of %zu bytes: byte %zu is wrong\n", rank, message, size,
              i);
    return;
  }
}

static void exchange(unsigned char* out, unsigned char* in, size_t size, unsigned message) {
  fill(out, size, message + (unsigned)rank);
  memset(in, 0xee, size);
  MPI_Sendrecv(out, (int)size, MPI_BYTE, 1 - rank, 1, in, (int)size, MPI_BYTE, 1 - rank, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(in, size, message + (unsigned)(1 - rank));
}

static void sizes(void) {
  static const size_t some[] = {1,      100,     4096,           16384,   16385,   65536,
                                100003, 1 << 20, (1 << 20) + 13, 4 << 20, 16 << 20};
  for (unsigned k = 0; k < sizeof some / sizeof *some; ++k) {
    unsigned char *out = malloc(some[k]), *in = malloc(some[k]);
    for (unsigned round = 0; round < 3; ++round) exchange(out, in, some[k], 100 * k + 10 * round);
    free(out);
    free(in);
  }
}

// Every other stretch of 5 integers out of 7.
static void scattered(void) {
  enum { blocks = 60000 };
  MPI_Datatype type;
  MPI_Type_vector(blocks, 5, 7, MPI_INT, &type);
  MPI_Type_commit(&type);
  int *out = malloc(blocks * 7 * sizeof(int)), *in = malloc(blocks * 7 * sizeof(int));
  for (int i = 0; i < blocks * 7; ++i) out[i] = i * 3 + rank, in[i] = -1;
  MPI_Sendrecv(out, 1, type, 1 - rank, 2, in, 1, type, 1 - rank, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < (blocks - 1) * 7 + 5; ++i) {
    const int expected = i % 7 < 5 ? i * 3 + (1 - rank) : -1;
    if (in[i] != expected && wrong++ < 5)
      fprintf(stderr, "rank %d: scattered: integer %d is wrong\n", rank, i);
  }
  free(out);
  free(in);
  MPI_Type_free(&type);
}

static void flood(void) {
  enum { count = 40 };
  static const size_t size = 300001;
  MPI_Request requests[2 * count];
  unsigned char *out[count], *in[count];
  for (unsigned i = 0; i < count; ++i) {
    out[i] = malloc(size);
    in[i] = malloc(size);
    fill(out[i], size, 5000 + 2 * i + (unsigned)rank);
    MPI_Irecv(in[i], (int)size, MPI_BYTE, 1 - rank, (int)i, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(out[i], (int)size, MPI_BYTE, 1 - rank, (int)i, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
  for (unsigned i = 0; i < count; ++i) {
    check(in[i], size, 5000 + 2 * i + (unsigned)(1 - rank));
    free(out[i]);
    free(in[i]);
  }
}

static void* map_at(void* place, size_t size, int flags) {
  void* const made =
      mmap(place, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (made == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 9);
  return made;
}

// The same addresses mean other memory each time.
static void remapped(void) {
  static const size_t size = 1 << 20;
  unsigned char* const out = map_at(NULL, size, 0);
  unsigned char* const in = map_at(NULL, size, 0);
  unsigned message = 9000;
  for (unsigned round = 0; round < 12; ++round) {
    exchange(out, in, size, message += 2);
    exchange(out, in, size, message += 2);  // The cache knows it now.
    switch (round % 4) {
      case 0:
        munmap(in, size);
        munmap(out, size);
        map_at(out, size, MAP_FIXED);
        map_at(in, size, MAP_FIXED);
        break;
      case 1:
        map_at(in, size, MAP_FIXED);
        map_at(out + size / 4, size / 2, MAP_FIXED);
        break;
      case 2:
        madvise(in, size, MADV_DONTNEED);
        madvise(out, size, MADV_DONTNEED);
        break;
      default:
        munmap(in + size / 2, 4096);
        map_at(in + size / 2, 4096, MAP_FIXED);
        break;
    }
  }
  munmap(in, size);
  munmap(out, size);
}

// The same buffers again and again: here registrations pay.
static void steady(void) {
  static const size_t size = 200000;
  unsigned char *out = malloc(size), *in = malloc(size);
  for (unsigned i = 0; i < 200; ++i) exchange(out, in, size, 20000 + 2 * i);
  free(out);
  free(in);
}

// Until somebody ends it.
static void endless(void) {
  static const size_t size = 1 << 20;
  unsigned char *out = malloc(size), *in = malloc(size);
  for (unsigned i = 0;; ++i) {
    exchange(out, in, size, i);
    if (i == 3 && rank == 1) abort();
  }
}

static int loaded(const char* library) {
  char line[1024];
  FILE* const maps = fopen("/proc/self/maps", "r");
  int found = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    found |= strstr(line, library) != NULL;
  if (maps != NULL) fclose(maps);
  return found;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = count > 1 ? words[1] : "all";
  const int all = strcmp(what, "all") == 0;
  if (all || strcmp(what, "sizes") == 0) sizes();
  if (all || strcmp(what, "scattered") == 0) scattered();
  if (all || strcmp(what, "flood") == 0) flood();
  if (all || strcmp(what, "remapped") == 0) remapped();
  if (all || strcmp(what, "steady") == 0) steady();
  if (strcmp(what, "endless") == 0) endless();
  if (strcmp(what, "loaded") == 0 && rank == 0)
    printf("libfabric %s\n", loaded("libfabric") ? "loaded" : "not loaded");
  int sum = 0;
  MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", sum);
  MPI_Finalize();
  return sum != 0;
}
