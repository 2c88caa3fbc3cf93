/* SPDX-License-Identifier: Apache-2.0 */
/* cases NAME: threads that end, wait and block each other in one of many ways. */
#define _GNU_SOURCE
#include <mgen.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { many = 4 };
static int rank, ranks;
static int counter;
static _Thread_local int own = 5;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t places;
static pthread_key_t key;
static int destroyed;

static double ms(void) {
  return MPI_Wtime() * 1e3;
}
static void check(int right, const char* what) {
  if (!right) printf("rank %d: wrong: %s at %.6f ms\n", rank, what, ms());
}
static int is_at(double wanted_ms) {
  const double apart = ms() - wanted_ms;
  return apart < 1e-6 && apart > -1e-6;
}

/* One more millisecond of work than the thread's number; results are numbers. */
static void* compute(void* given) {
  const intptr_t number = (intptr_t)given;
  check(own == 5, "a new thread's variable");
  own = (int)number;
  MGEN_Advance(1e-3 * (double)(number + 1));
  check(own == number, "a thread's variable");
  return (void*)(number * 7);
}

static void* count(void* given) {
  (void)given;
  pthread_mutex_lock(&lock);
  const int seen = counter;
  MGEN_Advance(1e-3);
  counter = seen + 1;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void start(pthread_t* threads, void* (*function)(void*)) {
  for (intptr_t i = 0; i < many; ++i) pthread_create(&threads[i], NULL, function, (void*)i);
}
static void join(pthread_t* threads) {
  for (int i = 0; i < many; ++i) {
    void* result = NULL;
    check(pthread_join(threads[i], &result) == 0, "join");
  }
}

static void begin_once(void) {
  MGEN_Advance(1e-3);
  ++counter;
}
static void destroy(void* given) {
  destroyed += given == &key;
}
static void* use_all(void* given) {
  const intptr_t number = (intptr_t)given;
  pthread_setspecific(key, &key);
  pthread_once(&once, begin_once);
  check(counter == 1, "once");
  check(pthread_barrier_wait(&barrier) <= 0 || 1, "barrier");
  check(is_at(1), "the end of once, for all");
  MGEN_Advance(1e-3 * (double)number);
  pthread_barrier_wait(&barrier);
  check(is_at(4), "a barrier ends with the last");
  sem_wait(&places); /* Two at once. */
  MGEN_Advance(1e-3);
  sem_post(&places);
  pthread_barrier_wait(&barrier);
  check(is_at(6), "a semaphore");
  if (number == 0) {
    pthread_rwlock_wrlock(&shared);
    pthread_barrier_wait(&barrier);
    MGEN_Advance(1e-3);
    pthread_rwlock_unlock(&shared);
  } else {
    pthread_barrier_wait(&barrier);
    pthread_rwlock_rdlock(&shared);
    MGEN_Advance(1e-3);
    pthread_rwlock_unlock(&shared);
    check(is_at(8), "readers at once");
  }
  return NULL;
}

static void sync_all(void) {
  pthread_t threads[many];
  pthread_barrier_init(&barrier, NULL, many);
  sem_init(&places, 0, 2);
  pthread_key_create(&key, destroy);
  start(threads, use_all);
  join(threads);
  check(is_at(8), "the end");
  check(destroyed == many, "destructors of thread-specific data");
}

static void* wait_for_change(void* given) {
  struct timespec until;
  (void)given;
  pthread_mutex_lock(&lock);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 5000000;
  check(pthread_cond_timedwait(&changed, &lock, &until) != 0 && is_at(5), "a wait with a limit");
  while (counter == 0) pthread_cond_wait(&changed, &lock);
  check(is_at(20), "a condition");
  pthread_mutex_unlock(&lock);
  return NULL;
}
static void conditions(void) {
  pthread_t threads[many];
  start(threads, wait_for_change);
  usleep(20000);
  pthread_mutex_lock(&lock);
  counter = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  join(threads);
}

static void* note_time(void* given) {
  usleep(3000);
  *(double*)given = ms();
  return NULL;
}
static int plain(void* given) {
  (void)given;
  thrd_yield();
  return 77;
}
static void others(void) {
  static double noted;
  pthread_t thread;
  pthread_create(&thread, NULL, note_time, &noted);
  pthread_detach(thread);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  static double second;
  pthread_create(&thread, &detached, note_time, &second);
  usleep(4000);
  check(noted > 2.999 && noted < 3.001 && noted == second, "detached threads");
  thrd_t c11;
  int result = 0;
  check(thrd_create(&c11, plain, NULL) == thrd_success, "thrd_create");
  check(thrd_join(c11, &result) == thrd_success && result == 77, "thrd_join");
  void* got = NULL;
  pthread_create(&thread, NULL, compute, (void*)1);
  check(pthread_tryjoin_np(thread, &got) != 0, "a thread that goes on");
  check(pthread_join(thread, &got) == 0 && got == (void*)7, "a result");
  check(is_at(6), "the end");
}

static volatile int flag;
static void* wait_yielding(void* given) {
  (void)given;
  while (!flag) sched_yield();
  check(ms() >= 100 && ms() < 105, "yielding");
  return NULL;
}
static void* probe(void* given) {
  (void)given;
  for (int found = 0; !found;)
    MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  int got = -1;
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(got == (rank + ranks - 1) % ranks, "a message");
  return NULL;
}
static void polls(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, wait_yielding, NULL);
  MGEN_Advance(0.1);
  flag = 1;
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, probe, NULL);
  MGEN_Advance(0.01);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 9, MPI_COMM_WORLD);
  pthread_join(thread, NULL);
}

static void* end_job(void* given) {
  (void)given;
  MGEN_Advance(1e-3);
  MPI_Finalize();
  exit(3);
}
static void* take_other_first(void* given) {
  (void)given;
  pthread_mutex_lock(&lock);
  MGEN_Advance(1e-3);
  pthread_mutex_lock(&other);
  return NULL;
}
static void* receive(void* given) {
  int got = 0;
  MPI_Recv(&got, 1, MPI_INT, (rank + 1) % ranks, (int)(intptr_t)given, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return NULL;
}
static void* crash(void* given) {
  MGEN_Advance(1e-3);
  *(volatile int*)given = 1;
  return NULL;
}
static void* finish_late(void* given) {
  (void)given;
  usleep(5000);
  MPI_Finalize();
  printf("rank %d: last at %.1f ms\n", rank, ms());
  return NULL;
}
static void* never_end(void* given) {
  (void)given;
  for (;;) usleep(1000);
}
static void* wait_without_a_call(void* given) {
  while (!flag) {
  }
  return given;
}
static void* quick(void* given) {
  (void)given;
  MGEN_Advance(1e-6);
  return NULL;
}
static void* overflow(void* given) {
  volatile char frame[65536];
  frame[0] = *(char*)given;
  return frame[0] ? NULL : overflow((void*)frame);
}

static void ends(const char* name) {
  pthread_t thread, second;
  if (strcmp(name, "exit") == 0) {
    pthread_create(&thread, NULL, end_job, NULL);
    never_end(NULL);
  } else if (strcmp(name, "locks") == 0) {
    pthread_create(&thread, NULL, take_other_first, NULL);
    pthread_mutex_lock(&other);
    MGEN_Advance(2e-3);
    pthread_mutex_lock(&lock);
  } else if (strcmp(name, "receives") == 0) {
    pthread_create(&thread, NULL, receive, (void*)5);
    pthread_create(&second, NULL, receive, (void*)6);
    pthread_join(thread, NULL);
  } else if (strcmp(name, "crash") == 0) {
    pthread_create(&thread, NULL, crash, (void*)8);
    pthread_join(thread, NULL);
  } else if (strcmp(name, "overflow") == 0) {
    static char zero;
    pthread_create(&thread, NULL, overflow, &zero);
    pthread_join(thread, NULL);
  } else if (strcmp(name, "late") == 0) {
    pthread_create(&thread, NULL, finish_late, NULL);
    pthread_exit(NULL);
  } else if (strcmp(name, "spin") == 0) {
    pthread_create(&thread, NULL, wait_without_a_call, NULL);
    MGEN_Advance(1e-3);
    flag = 1;
    pthread_join(thread, NULL);
  } else if (strcmp(name, "leave") == 0) {
    pthread_create(&thread, NULL, never_end, NULL);
  } else if (strcmp(name, "many") == 0) {
    for (int i = 0; i < 1000; ++i) {
      pthread_create(&thread, NULL, quick, NULL);
      i % 2 == 0 ? pthread_detach(thread) : pthread_join(thread, NULL);
    }
    check(is_at(0.5), "many threads");
  }
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "compute";
  int provided = 0;
  pthread_t threads[many];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(name, "level") == 0) {
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
  }
  if (strcmp(name, "compute") == 0) {
    start(threads, compute);
    join(threads);
    if (rank == 0) printf("longest of 1 to 4 ms: %.6f ms\n", ms());
  } else if (strcmp(name, "lock") == 0) {
    start(threads, count);
    join(threads);
    check(counter == many, "a counter");
    if (rank == 0) printf("4 times 1 ms with a lock: %.6f ms\n", ms());
  } else if (strcmp(name, "sync") == 0) {
    sync_all();
  } else if (strcmp(name, "conditions") == 0) {
    conditions();
  } else if (strcmp(name, "others") == 0) {
    others();
  } else if (strcmp(name, "polls") == 0) {
    polls();
  } else {
    ends(name);
  }
  MPI_Finalize();
  return 0;
}
