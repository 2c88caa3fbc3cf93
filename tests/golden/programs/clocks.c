/* SPDX-License-Identifier: Apache-2.0 */
/* Every clock of the C library shows virtual time, and sleeping takes virtual time. */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

enum { clocks = 8 };
static const char* const names[clocks] = {"gettimeofday", "realtime", "monotonic", "processor",
                                          "time",         "clock",    "times",     "getrusage"};

static double in_seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_clocks(double* now) {
  struct timeval day;
  struct tms ticks;
  struct rusage used;
  gettimeofday(&day, NULL);
  getrusage(RUSAGE_SELF, &used);
  now[0] = (double)day.tv_sec + 1e-6 * (double)day.tv_usec;
  now[1] = in_seconds(CLOCK_REALTIME);
  now[2] = in_seconds(CLOCK_MONOTONIC);
  now[3] = in_seconds(CLOCK_PROCESS_CPUTIME_ID);
  now[4] = (double)time(NULL);
  now[5] = (double)clock() / CLOCKS_PER_SEC;
  now[6] = (double)times(&ticks) / (double)sysconf(_SC_CLK_TCK);
  now[7] = (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

/* Two hours, in all ways there are. */
static void sleep_long(void) {
  const struct timespec half = {1800, 0};
  struct timespec until;
  sleep(1800);
  for (int i = 0; i < 1800; ++i) usleep(1000000);
  nanosleep(&half, NULL);
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 1800;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

int main(int argc, char** argv) {
  double before[clocks], after[clocks];
  int rank, bad = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double start = MPI_Wtime();
  read_clocks(before);
  sleep_long();
  read_clocks(after);
  for (int i = 0; i < clocks; ++i) {
    if (fabs(after[i] - before[i] - (MPI_Wtime() - start)) > (i == 4 ? 1 : 0.011)) {
      printf("rank %d: %s: %f s\n", rank, names[i], after[i] - before[i]);
      bad = 1;
    }
  }
  for (int i = 0; i < clocks; ++i) { /* A program that only waits for a clock gets on. */
    read_clocks(before);
    do read_clocks(after);
    while (after[i] - before[i] < 1e-3);
  }
  if (rank == 0) {
    const time_t now = time(NULL);
    printf("%s after two hours: %s", bad ? "bad" : "good", asctime(gmtime(&now)));
  }
  MPI_Finalize();
  return bad;
}
