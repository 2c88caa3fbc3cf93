// SPDX-License-Identifier: Apache-2.0
// checked SECONDS [LINES [THREADS]]: messages of all sizes between all ranks, collectives and
// one-sided writes, whose every word is checked, for so long, by so many threads of each rank at
// once; before them each rank prints so many lines. Ends with
//   rank R right
// or says what was wrong and ends with 1.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_words = 1 << 16, most_threads = 8, words_shown = 8 };

static int self, ranks;
static double seconds;

// One thread of this rank, and what it shares with the threads of the same number elsewhere.
struct worker {
  int number;
  MPI_Comm comm;
  MPI_Win window;
  uint64_t *out, *in, *shown;
};

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

static uint64_t word(const struct worker* w, uint64_t round, int from, int to, int at) {
  return mix((uint64_t)w->number << 60 ^ round << 40 ^ (uint64_t)from << 30 ^ (uint64_t)to << 20 ^
             (uint64_t)at);
}

static void wrong(const struct worker* w, const char* what, uint64_t round) {
  printf("rank %d thread %d: wrong %s in round %llu\n", self, w->number, what,
         (unsigned long long)round);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Everybody knows the size of every round: from 8 bytes to 512 KiB.
static int words_of(uint64_t round) {
  const uint64_t luck = mix(~round);
  return 1 + (int)((luck >> 20) % (1u << (luck % 17)));
}

static void exchange(struct worker* w, uint64_t round) {
  const int distance = 1 + (int)(mix(round) % (uint64_t)(ranks > 1 ? ranks - 1 : 1));
  const int to = (self + distance) % ranks, from = (self + ranks - distance) % ranks;
  const int words = words_of(round);
  for (int i = 0; i < words; i++) w->out[i] = word(w, round, self, to, i);
  memset(w->in, 0, (size_t)words * sizeof *w->in);
  MPI_Request both[2];
  MPI_Status status[2];
  MPI_Irecv(w->in, most_words, MPI_UINT64_T, from, (int)(round % 1000), w->comm, &both[0]);
  MPI_Isend(w->out, words, MPI_UINT64_T, to, (int)(round % 1000), w->comm, &both[1]);
  MPI_Waitall(2, both, status);
  int got = 0;
  MPI_Get_count(&status[0], MPI_UINT64_T, &got);
  if (got != words) wrong(w, "size of a message", round);
  for (int i = 0; i < words; i++)
    if (w->in[i] != word(w, round, from, self, i)) wrong(w, "message", round);
}

static void together(struct worker* w, uint64_t round) {
  uint64_t mine = word(w, round, self, 0, 0), sum = 0, wanted = 0;
  for (int r = 0; r < ranks; r++) wanted += word(w, round, r, 0, 0);
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, w->comm);
  if (sum != wanted) wrong(w, "sum", round);
  const int words = 1 + words_of(round) / ranks / 4;
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < words; i++) w->out[r * words + i] = word(w, round, self, r, i);
  MPI_Alltoall(w->out, words, MPI_UINT64_T, w->in, words, MPI_UINT64_T, w->comm);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < words; i++)
      if (w->in[r * words + i] != word(w, round, r, self, i)) wrong(w, "all-to-all", round);
}

static void one_sided(struct worker* w, uint64_t round) {
  const int to = (self + 1) % ranks, from = (self + ranks - 1) % ranks;
  const uint64_t mine = word(w, round, self, to, 0);
  MPI_Win_fence(0, w->window);
  MPI_Put(&mine, 1, MPI_UINT64_T, to, 0, 1, MPI_UINT64_T, w->window);
  MPI_Win_fence(0, w->window);
  if (w->shown[0] != word(w, round, from, self, 0)) wrong(w, "one-sided write", round);
}

static void* work(void* given) {
  struct worker* const w = given;
  const double start = MPI_Wtime();
  uint64_t round = 1;
  for (int more = 1; more; round++) {
    exchange(w, round);
    if (round % 8 == 0) together(w, round);
    if (round % 16 == 0) one_sided(w, round);
    if (round % 8 != 0) continue;
    more = MPI_Wtime() - start < seconds;  // Rank 0 decides.
    MPI_Bcast(&more, 1, MPI_INT, 0, w->comm);
    // Something to print, for those who read it or do not.
    if (self == 0 && round % 64 == 0) printf("round %llu\n", (unsigned long long)round);
  }
  return NULL;
}

static void make(struct worker* w, int number) {
  w->number = number;
  w->out = calloc(most_words, sizeof *w->out);
  w->in = calloc(most_words, sizeof *w->in);
  w->shown = calloc(words_shown, sizeof *w->shown);
  MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
  MPI_Win_create(w->shown, words_shown * sizeof *w->shown, sizeof *w->shown, MPI_INFO_NULL, w->comm,
                 &w->window);
}

static void unmake(struct worker* w) {
  MPI_Win_free(&w->window);
  MPI_Comm_free(&w->comm);
  free(w->out);
  free(w->in);
  free(w->shown);
}

int main(int argc, char** argv) {
  struct worker workers[most_threads];
  pthread_t handles[most_threads];
  int level = 0;
  seconds = argc > 1 ? atof(argv[1]) : 1;
  const int lines = argc > 2 ? atoi(argv[2]) : 0, threads = argc > 3 ? atoi(argv[3]) : 1;
  if (threads < 1 || threads > most_threads) return 2;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (threads > 1 && level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int t = 0; t < threads; t++) make(&workers[t], t);
  if (self == 0) printf("begun\n");
  for (int i = lines; i > 0; i--) printf("rank %d has %d more lines to print\n", self, i);
  fflush(stdout);
  for (int t = 1; t < threads; t++) pthread_create(&handles[t], NULL, work, &workers[t]);
  work(&workers[0]);
  for (int t = 1; t < threads; t++) pthread_join(handles[t], NULL);
  for (int t = 0; t < threads; t++) unmake(&workers[t]);
  printf("rank %d right\n", self);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
