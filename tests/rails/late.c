/* SPDX-License-Identifier: Apache-2.0
 * Ranks that compute for a while and only then talk, each with each, so that all connections are
 * opened late. Every byte is checked.
 * Usage: late SECONDS ROUNDS BYTES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this process. */
static double processor_time(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static unsigned char pattern(int from, int to, int round, int i) {
  return (unsigned char)(from * 31 + to * 17 + round * 7 + i);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = atof(argv[1]);
  const int rounds = atoi(argv[2]), bytes = atoi(argv[3]);
  int self, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsigned char* const out = malloc((size_t)bytes);
  unsigned char* const in = malloc((size_t)bytes);
  if (self == 0) {
    printf("begun\n");
    fflush(stdout);
  }
  for (const double until = now() + seconds; now() < until;) {
    const struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
  }
  long wrong = 0;
  const double begin = now(), before = processor_time();
  for (int round = 0; round < rounds; ++round) {
    for (int step = 1; step < ranks; ++step) {
      const int to = (self + step) % ranks, from = (self + ranks - step) % ranks;
      for (int i = 0; i < bytes; ++i) out[i] = pattern(self, to, round, i);
      MPI_Sendrecv(out, bytes, MPI_BYTE, to, round, in, bytes, MPI_BYTE, from, round,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < bytes; ++i) wrong += in[i] != pattern(from, self, round, i);
    }
  }
  const double took = now() - begin;
  double busy = processor_time() - before, all = 0;
  long wrongs = 0;
  MPI_Reduce(&busy, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wrong, &wrongs, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (self == 0)
    printf("rounds took %.3f s, processor time %.3f s, wrong %ld\n", took, all, wrongs);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
