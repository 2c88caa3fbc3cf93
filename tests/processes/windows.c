// SPDX-License-Identifier: Apache-2.0
// Shared windows by a table of cases: sizes, contiguity, every kind of synchronisation.
//
// windows            all cases, in communicators of one node; prints "ok RANKS" of the world's size
// windows across     a shared window over all ranks: prints the class of the error
// windows huge       more memory than any host has: prints the class of the error
// windows hold       allocates, says "held", and waits for its end
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm node;
static int rank, ranks;

static void fail(const char* what, int line) {
  fprintf(stderr, "wrong: %s, line %d, rank %d of %d on its node\n", what, line, rank, ranks);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)

static MPI_Aint sizes_of(int form, int who) {
  switch (form) {
    case 0:
      return 8;
    case 1:
      return 1;
    case 2:
      return who % 3 == 1 ? 0 : 5 + 1000 * who;
    case 3:
      return who == ranks - 1 ? 4097 : 0;
    case 4:
      return who == 0 ? 3 << 20 : 0;
    default:
      return 0;
  }
}

static void check_layout(int form, int apart) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
  char* own = NULL;
  MPI_Win win;
  MPI_Win_allocate_shared(sizes_of(form, rank), 1 + rank, info, node, &own, &win);
  MPI_Info_free(&info);
  char* end = NULL;
  MPI_Aint first = 0;
  for (int who = 0; who < ranks; ++who) {
    MPI_Aint size = -1;
    int unit = -1;
    char* base = NULL;
    MPI_Win_shared_query(win, who, &size, &unit, &base);
    CHECK(size == sizes_of(form, who) && unit == 1 + who);
    if (first == 0) first = size;
    CHECK(who != rank || base == own);
    if (apart && size == 0) continue;
    CHECK(end == NULL || (apart ? base >= end : base == end));
    CHECK(!apart || (uintptr_t)base % 64 == 0);
    end = base + size;
    if (who == (rank + 1) % ranks) memset(base, 1 + rank, (size_t)size);
  }
  MPI_Win_fence(0, win);
  for (MPI_Aint i = 0; i < sizes_of(form, rank); ++i)
    CHECK(own[i] == 1 + (rank + ranks - 1) % ranks);
  MPI_Aint size = -1;
  int unit = 0;
  void* base = NULL;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &base);
  CHECK(size == first);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static int64_t* counters(MPI_Win* win) {
  int64_t* own = NULL;
  MPI_Win_allocate_shared(rank == 0 ? 8 * sizeof *own : 0, sizeof *own, MPI_INFO_NULL, node, &own,
                          win);
  MPI_Aint size;
  int unit;
  int64_t* base;
  MPI_Win_shared_query(*win, 0, &size, &unit, &base);
  return base;
}

/* Loads and stores under every kind of lock, and accesses of the library beside them. */
static void check_locks(int rounds) {
  MPI_Win win;
  volatile int64_t* shared = counters(&win);
  MPI_Win_fence(0, win);
  const int64_t one = 1;
  for (int i = 0; i < rounds; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    shared[0] = shared[0] + 1;
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, MPI_SUM, win);
    int64_t ticket = -1;
    MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 2, MPI_SUM, win);
    MPI_Win_flush(0, win);
    int64_t seen = 0, found = -1, next = 0;
    do { /* A counter by compare-and-swap. */
      seen = found < 0 ? shared[3] : found;
      next = seen + 1;
      MPI_Compare_and_swap(&next, &seen, &found, MPI_INT64_T, 0, 3, win);
      MPI_Win_flush(0, win);
    } while (found != seen);
    MPI_Win_unlock_all(win);
    CHECK(ticket >= 0 && ticket < (int64_t)rounds * ranks);
  }
  MPI_Barrier(node);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  for (int i = 0; i < 4; ++i) CHECK(shared[i] == (int64_t)rounds * ranks);
  MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
}

/* Ranks take turns by a word in memory alone. */
static void check_turns(int rounds) {
  MPI_Win win;
  volatile int64_t* shared = counters(&win);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int i = 0; i < rounds; ++i) {
    while (shared[0] != (int64_t)i * ranks + rank) MPI_Win_sync(win);
    shared[1] = shared[1] + rank;
    MPI_Win_sync(win);
    shared[0] = shared[0] + 1;
  }
  while (shared[0] != (int64_t)rounds * ranks) MPI_Win_sync(win);
  MPI_Win_sync(win);
  CHECK(shared[1] == (int64_t)rounds * ranks * (ranks - 1) / 2);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void check_groups(void) {
  int *own = NULL, *theirs = NULL, unit;
  MPI_Aint size;
  MPI_Win win;
  MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &win);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Win_shared_query(win, right, &size, &unit, &theirs);
  MPI_Group all, to, from;
  MPI_Comm_group(node, &all);
  MPI_Group_incl(all, 1, &right, &to);
  MPI_Group_incl(all, 1, &left, &from);
  for (int i = 0; i < 100; ++i) {
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    *(volatile int*)theirs = rank + 100 * i;
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK(*(volatile int*)own == left + 100 * i);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Win_free(&win);
}

static void say_class(int code) {
  int kind = -1, me = -1;
  MPI_Error_class(code, &kind);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    const char* shared = kind == MPI_ERR_RMA_SHARED ? "MPI_ERR_RMA_SHARED" : "other";
    printf("%s\n", kind == MPI_ERR_NO_MEM ? "MPI_ERR_NO_MEM" : shared);
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &ranks);
  const char* what = count > 1 ? words[1] : "all";
  char* base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  int all = 0, me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (strcmp(what, "across") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say_class(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  } else if (strcmp(what, "huge") == 0) {
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    const MPI_Aint size = count > 2 ? atoll(words[2]) : (MPI_Aint)1 << 60;
    say_class(MPI_Win_allocate_shared(rank == 0 ? size : 64, 1, MPI_INFO_NULL, node, &base, &win));
  } else if (strcmp(what, "hold") == 0) {
    MPI_Win_allocate_shared(1 << 20, 1, MPI_INFO_NULL, node, &base, &win);
    memset(base, 1, 1 << 20);
    MPI_Barrier(node);
    if (me == 0) printf("held\n");
    fflush(stdout);
    MPI_Recv(&me, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int form = 0; form < 6; ++form) {
      for (int apart = 0; apart < 2; ++apart) check_layout(form, apart);
    }
    check_locks(count > 2 ? atoi(words[2]) : 50);
    check_turns(20);
    check_groups();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) printf("ok %d\n", all);
  }
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
