// SPDX-License-Identifier: Apache-2.0
// checked SECONDS [LINES]: messages of all sizes between all ranks, collectives and one-sided
// writes, whose every word is checked, for so long; before them each rank prints so many lines.
// Ends with
//   rank R right
// or says what was wrong and ends with 1.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_words = 1 << 16 };

static int self, ranks;
static uint64_t *out, *in;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

static uint64_t word(uint64_t round, int from, int to, int at) {
  return mix(round << 40 | (uint64_t)from << 30 | (uint64_t)to << 20 | (uint64_t)at);
}

static void wrong(const char* what, uint64_t round) {
  printf("rank %d: wrong %s in round %llu\n", self, what, (unsigned long long)round);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Everybody knows the size of every round: from 8 bytes to 512 KiB.
static int words_of(uint64_t round) {
  const uint64_t luck = mix(~round);
  return 1 + (int)((luck >> 20) % (1u << (luck % 17)));
}

static void exchange(uint64_t round) {
  const int distance = 1 + (int)(mix(round) % (uint64_t)(ranks > 1 ? ranks - 1 : 1));
  const int to = (self + distance) % ranks, from = (self + ranks - distance) % ranks;
  const int words = words_of(round);
  for (int i = 0; i < words; i++) out[i] = word(round, self, to, i);
  memset(in, 0, (size_t)words * sizeof *in);
  MPI_Request both[2];
  MPI_Status status[2];
  MPI_Irecv(in, most_words, MPI_UINT64_T, from, (int)(round % 1000), MPI_COMM_WORLD, &both[0]);
  MPI_Isend(out, words, MPI_UINT64_T, to, (int)(round % 1000), MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, status);
  int got = 0;
  MPI_Get_count(&status[0], MPI_UINT64_T, &got);
  if (got != words) wrong("size of a message", round);
  for (int i = 0; i < words; i++)
    if (in[i] != word(round, from, self, i)) wrong("message", round);
}

static void together(uint64_t round) {
  uint64_t mine = word(round, self, 0, 0), sum = 0, wanted = 0;
  for (int r = 0; r < ranks; r++) wanted += word(round, r, 0, 0);
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (sum != wanted) wrong("sum", round);
  const int words = 1 + words_of(round) / ranks / 4;
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < words; i++) out[r * words + i] = word(round, self, r, i);
  MPI_Alltoall(out, words, MPI_UINT64_T, in, words, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < words; i++)
      if (in[r * words + i] != word(round, r, self, i)) wrong("all-to-all", round);
}

static void one_sided(uint64_t round, MPI_Win window, uint64_t* memory) {
  const int to = (self + 1) % ranks, from = (self + ranks - 1) % ranks;
  const uint64_t mine = word(round, self, to, 0);
  MPI_Win_fence(0, window);
  MPI_Put(&mine, 1, MPI_UINT64_T, to, 0, 1, MPI_UINT64_T, window);
  MPI_Win_fence(0, window);
  if (memory[0] != word(round, from, self, 0)) wrong("one-sided write", round);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  out = calloc(most_words, sizeof *out);
  in = calloc(most_words, sizeof *in);
  uint64_t* memory = calloc(8, sizeof *memory);
  MPI_Win window;
  MPI_Win_create(memory, 8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  if (self == 0) printf("begun\n");
  for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--)
    printf("rank %d has %d more lines to print\n", self, i);
  fflush(stdout);
  const double start = MPI_Wtime();
  uint64_t round = 1;
  for (int more = 1; more; round++) {
    exchange(round);
    if (round % 8 == 0) together(round);
    if (round % 16 == 0) one_sided(round, window, memory);
    if (round % 8 != 0) continue;
    more = MPI_Wtime() - start < seconds;  // Rank 0 decides.
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    // Something to print, for those who read it or do not.
    if (self == 0 && round % 64 == 0) printf("round %llu\n", (unsigned long long)round);
  }
  MPI_Win_free(&window);
  printf("rank %d right\n", self);
  fflush(stdout);
  MPI_Finalize();
  free(out);
  free(in);
  free(memory);
  return 0;
}
