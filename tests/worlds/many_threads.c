/* SPDX-License-Identifier: Apache-2.0 */
/* many_threads THREADS ROUNDS [SEED]: so many threads of each rank call the library at once, each
   in its own communicator and all in shared ones, in all ways. Every word is checked. Rank 0 prints
   "N threads right", or any rank says what was wrong and ends the job. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_words = 1 << 14, tags_each = 100 };

static int self, ranks, threads, rounds;
static unsigned seed;
static MPI_Comm shared; /* Used by all threads, with tags of their own. */

struct worker {
  int number;
  MPI_Comm own; /* Of the threads with this number. */
  MPI_Win window;
  uint64_t* exposed;
  uint64_t *out, *in;
};

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

static uint64_t word(int thread, int round, int from, int at) {
  return mix((uint64_t)seed << 52 | (uint64_t)thread << 44 | (uint64_t)round << 24 |
             (uint64_t)from << 16 | (uint64_t)at);
}

static int words_of(int thread, int round) {
  const uint64_t luck = mix(((uint64_t)thread << 32 | (uint64_t)round) ^ 77);
  return 1 + (int)((luck >> 20) % (1u << (luck % 14)));
}

static void wrong(const struct worker* w, const char* what, int round) {
  printf("rank %d thread %d: wrong %s in round %d\n", self, w->number, what, round);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int check(const struct worker* w, const uint64_t* data, int from, int round, int count) {
  for (int i = 0; i < count; ++i) {
    if (data[i] != word(w->number, round, from, i)) return 0;
  }
  return 1;
}

/* A ring: blocking, on the communicator that is given. */
static void ring(struct worker* w, MPI_Comm comm, int tag, int round) {
  const int count = words_of(w->number, round), left = (self + ranks - 1) % ranks;
  MPI_Status status;
  MPI_Request open;
  int got = 0;
  MPI_Isend(w->out, count, MPI_UINT64_T, (self + 1) % ranks, tag, comm, &open);
  switch (round % 4) {
    case 0:
      MPI_Recv(w->in, most_words, MPI_UINT64_T, left, tag, comm, &status);
      break;
    case 1:
      MPI_Probe(left, tag, comm, &status);
      MPI_Get_count(&status, MPI_UINT64_T, &got);
      if (got != count) wrong(w, "count of a probe", round);
      MPI_Recv(w->in, got, MPI_UINT64_T, left, tag, comm, &status);
      break;
    case 2: {
      MPI_Message message;
      MPI_Mprobe(left, tag, comm, &message, &status);
      MPI_Mrecv(w->in, most_words, MPI_UINT64_T, &message, &status);
      break;
    }
    default: {
      int flag = 0;
      MPI_Message message;
      while (!flag) MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &flag, &message, &status);
      MPI_Mrecv(w->in, most_words, MPI_UINT64_T, &message, &status);
      if (status.MPI_SOURCE != left) wrong(w, "source", round);
    }
  }
  MPI_Get_count(&status, MPI_UINT64_T, &got);
  if (got != count || !check(w, w->in, left, round, count)) wrong(w, "message", round);
  MPI_Wait(&open, MPI_STATUS_IGNORE);
}

/* Everybody to everybody, completed in one of several ways. */
static void crowd(struct worker* w, int round) {
  const int count = words_of(w->number, round) % 600 + 1, tag = tags_each * w->number + 7;
  MPI_Request open[64];
  MPI_Status statuses[64];
  int done = 0, index, some, indices[64];
  uint64_t* in = w->in;
  for (int peer = 0; peer < ranks; ++peer) {
    MPI_Irecv(in + peer * 700, 700, MPI_UINT64_T, peer, tag, shared, &open[peer]);
    MPI_Isend(w->out, count, MPI_UINT64_T, peer, tag, shared, &open[ranks + peer]);
  }
  while (done < 2 * ranks) {
    switch (round % 4) {
      case 0:
        MPI_Waitany(2 * ranks, open, &index, MPI_STATUS_IGNORE);
        ++done;
        break;
      case 1:
        MPI_Waitsome(2 * ranks, open, &some, indices, statuses);
        done += some;
        break;
      case 2:
        MPI_Waitall(2 * ranks, open, MPI_STATUSES_IGNORE);
        done = 2 * ranks;
        break;
      default:
        MPI_Testsome(2 * ranks, open, &some, indices, MPI_STATUSES_IGNORE);
        done += some;
    }
  }
  for (int peer = 0; peer < ranks; ++peer) {
    if (!check(w, in + peer * 700, peer, round, count)) wrong(w, "message of many", round);
  }
}

static void add_up(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((uint64_t*)inout)[i] += ((uint64_t*)in)[i];
}

static void collectives(struct worker* w, MPI_Op op, int round) {
  uint64_t sum = 0, expected = 0, each = word(w->number, round, self, 0);
  for (int peer = 0; peer < ranks; ++peer) expected += word(w->number, round, peer, 0);
  if (round % 2 == 0) {
    MPI_Allreduce(&each, &sum, 1, MPI_UINT64_T, op, w->own);
  } else {
    MPI_Request open;
    MPI_Iallreduce(&each, &sum, 1, MPI_UINT64_T, op, w->own, &open);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
  }
  if (sum != expected) wrong(w, "sum", round);
  const int root = round % ranks, count = words_of(w->number, round);
  if (self == root) memcpy(w->in, w->out, (size_t)count * sizeof *w->in);
  MPI_Bcast(w->in, count, MPI_UINT64_T, root, w->own);
  if (!check(w, w->in, root, round, count)) wrong(w, "broadcast", round);
  MPI_Barrier(w->own);
}

static void communicators(struct worker* w, int round) {
  MPI_Comm copy, half, later;
  MPI_Request open;
  MPI_Comm_dup(w->own, &copy);
  MPI_Comm_idup(w->own, &later, &open);
  MPI_Comm_split(w->own, self % 2, self, &half);
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  ring(w, copy, 3, round);
  ring(w, later, 3, round);
  int size = 0, expected = self % 2 ? ranks / 2 : (ranks + 1) / 2, sum = 0, one = 1;
  MPI_Comm_size(half, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
  if (size != expected || sum != expected) wrong(w, "half", round);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  MPI_Comm_free(&later);
}

static void windows(struct worker* w, int round) {
  const int right = (self + 1) % ranks;
  const uint64_t value = word(w->number, round, self, 1);
  uint64_t back = 0, one = 1, count = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->window);
  MPI_Put(&value, 1, MPI_UINT64_T, right, 0, 1, MPI_UINT64_T, w->window);
  MPI_Win_flush(right, w->window);
  MPI_Get(&back, 1, MPI_UINT64_T, right, 0, 1, MPI_UINT64_T, w->window);
  MPI_Win_unlock(right, w->window);
  if (back != value) wrong(w, "put and get", round);
  MPI_Win_lock_all(0, w->window);
  for (int peer = 0; peer < ranks; ++peer) {
    MPI_Fetch_and_op(&one, &count, MPI_UINT64_T, peer, 1, MPI_SUM, w->window);
  }
  MPI_Win_unlock_all(w->window);
  MPI_Win_fence(0, w->window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->window);
  if (w->exposed[1] % (uint64_t)ranks != 0) wrong(w, "count of accumulations", round);
  MPI_Barrier(w->own);
}

static void types_and_cancels(struct worker* w, int round) {
  MPI_Datatype column;
  MPI_Request never;
  MPI_Status status;
  int cancelled = 0;
  MPI_Type_vector(50, 1, 3, MPI_UINT64_T, &column);
  MPI_Type_commit(&column);
  memset(w->in, 0, 200 * sizeof *w->in);
  MPI_Sendrecv(w->out, 50, MPI_UINT64_T, self, tags_each * w->number + 5, w->in, 1, column, self,
               tags_each * w->number + 5, shared, MPI_STATUS_IGNORE);
  for (int i = 0; i < 50; ++i) {
    if (w->in[3 * i] != w->out[i]) wrong(w, "column", round);
  }
  MPI_Type_free(&column);
  MPI_Irecv(w->in, 1, MPI_INT, MPI_ANY_SOURCE, tags_each * w->number + 9, shared, &never);
  MPI_Cancel(&never);
  MPI_Wait(&never, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled) wrong(w, "cancel", round);
}

static void* work(void* given) {
  struct worker* const w = given;
  MPI_Op op;
  int main_thread = -1, level = -1;
  MPI_Is_thread_main(&main_thread);
  MPI_Query_thread(&level);
  if (main_thread != (w->number == 0) || level != MPI_THREAD_MULTIPLE) wrong(w, "level", 0);
  MPI_Op_create(add_up, 1, &op);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < most_words; ++i) w->out[i] = word(w->number, round, self, i);
    ring(w, w->own, 1, round);
    ring(w, shared, tags_each * w->number + 1, round);
    crowd(w, round);
    collectives(w, op, round);
    types_and_cancels(w, round);
    if (round % 8 == w->number % 8) communicators(w, round);
    if (round % 4 == 1) windows(w, round);
  }
  MPI_Op_free(&op);
  return NULL;
}

/* One thread waits for what another one does: neither keeps the other out. */
static MPI_Request generalized;
static int query(void* unused, MPI_Status* status) {
  (void)unused;
  MPI_Status_set_elements(status, MPI_BYTE, 3);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int nothing(void* unused) {
  (void)unused;
  return MPI_SUCCESS;
}
static int no_cancel(void* unused, int complete) {
  (void)unused, (void)complete;
  return MPI_SUCCESS;
}
static void* helper(void* unused) {
  (void)unused;
  int token = 5;
  MPI_Send(&token, 1, MPI_INT, self, 4242, shared);
  MPI_Grequest_complete(generalized);
  return NULL;
}
static void wait_for_helper(const struct worker* w) {
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    int token = 0, count = 0;
    MPI_Status status;
    MPI_Grequest_start(query, nothing, no_cancel, NULL, &generalized);
    MPI_Request mine = generalized;
    pthread_create(&thread, NULL, helper, NULL);
    MPI_Recv(&token, 1, MPI_INT, self, 4242, shared, MPI_STATUS_IGNORE);
    MPI_Wait(&mine, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (token != 5 || count != 3) wrong(w, "word of another thread", i);
    pthread_join(thread, NULL);
  }
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  threads = atoi(argv[1]), rounds = atoi(argv[2]), seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
  if (level != MPI_THREAD_MULTIPLE || ranks > 20) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_dup(MPI_COMM_WORLD, &shared);
  struct worker* const workers = calloc((size_t)threads, sizeof *workers);
  pthread_t* const handles = calloc((size_t)threads, sizeof *handles);
  for (int t = 0; t < threads; ++t) {
    struct worker* const w = &workers[t];
    w->number = t;
    w->out = calloc(most_words, sizeof *w->out);
    w->in = calloc(most_words, sizeof *w->in);
    MPI_Comm_dup(MPI_COMM_WORLD, &w->own);
    MPI_Win_allocate(2 * sizeof *w->exposed, sizeof *w->exposed, MPI_INFO_NULL, w->own, &w->exposed,
                     &w->window);
    w->exposed[0] = w->exposed[1] = 0;
    MPI_Barrier(w->own);
  }
  wait_for_helper(&workers[0]);
  for (int t = 1; t < threads; ++t) pthread_create(&handles[t], NULL, work, &workers[t]);
  work(&workers[0]);
  for (int t = 1; t < threads; ++t) pthread_join(handles[t], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int t = 0; t < threads; ++t) {
    MPI_Win_free(&workers[t].window);
    MPI_Comm_free(&workers[t].own);
    free(workers[t].out), free(workers[t].in);
  }
  free(workers), free(handles);
  if (self == 0) printf("%d threads right\n", threads);
  MPI_Comm_free(&shared);
  MPI_Finalize();
  return 0;
}
