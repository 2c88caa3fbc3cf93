/* SPDX-License-Identifier: Apache-2.0
 * Latency, bandwidth and message rate between pairs of ranks: rank i of the first half with rank i
 * of the second. Only the first pair works, except in the benchmarks of many pairs. Usage: messages
 * [--csv] [--min=BYTES] [--max=BYTES] [--rounds=N] [--window=N] [NAME] */
#include "measure.h"

typedef struct {
  int rank, partner, sender;
  long size;
  const Options* options;
  char *out, *in;
  MPI_Request* requests;
} Pair;

static void ping_pong(const Pair* p) {
  const int n = (int)p->size;
  if (p->sender) {
    MPI_Send(p->out, n, MPI_CHAR, p->partner, 1, MPI_COMM_WORLD);
    MPI_Recv(p->in, n, MPI_CHAR, p->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(p->in, n, MPI_CHAR, p->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(p->out, n, MPI_CHAR, p->partner, 1, MPI_COMM_WORLD);
  }
}

/* A window of messages, then a word that all have arrived. */
static void stream(const Pair* p) {
  const int n = (int)p->size, window = p->options->window;
  for (int i = 0; i < window; ++i) {
    if (p->sender)
      MPI_Isend(p->out, n, MPI_CHAR, p->partner, 2, MPI_COMM_WORLD, &p->requests[i]);
    else
      MPI_Irecv(p->in, n, MPI_CHAR, p->partner, 2, MPI_COMM_WORLD, &p->requests[i]);
  }
  MPI_Waitall(window, p->requests, MPI_STATUSES_IGNORE);
  if (p->sender)
    MPI_Recv(NULL, 0, MPI_CHAR, p->partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(NULL, 0, MPI_CHAR, p->partner, 3, MPI_COMM_WORLD);
}

static void both_ways(const Pair* p) {
  const int n = (int)p->size, window = p->options->window;
  for (int i = 0; i < window; ++i)
    MPI_Irecv(p->in, n, MPI_CHAR, p->partner, 4, MPI_COMM_WORLD, &p->requests[i]);
  for (int i = 0; i < window; ++i)
    MPI_Isend(p->out, n, MPI_CHAR, p->partner, 4, MPI_COMM_WORLD, &p->requests[window + i]);
  MPI_Waitall(2 * window, p->requests, MPI_STATUSES_IGNORE);
}

/* Seconds of one round, the mean of all rounds of all pairs that work. */
static double time_rounds(const Pair* p, void (*round)(const Pair*), int works) {
  double mine[2] = {0, 0}, all[2] = {0, 1};
  if (works) round(p);
  MPI_Barrier(MPI_COMM_WORLD);
  if (works) {
    const double start = MPI_Wtime();
    for (int i = 0; i < p->options->rounds; ++i) round(p);
    mine[0] = (MPI_Wtime() - start) / p->options->rounds;
    mine[1] = 1;
  }
  if (!p->sender) mine[0] = mine[1] = 0;
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all[0] / all[1];
}

int main(int argc, char** argv) {
  Pair p;
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Options o = read_options(argc, argv);
  const int pairs = ranks / 2, first = p.rank % (pairs > 0 ? pairs : 1) == 0 && p.rank < 2 * pairs;
  const double window = o.window, per_us = 1e-6, per_byte_ns = 1e-9;
  p.sender = p.rank < pairs;
  p.partner = p.sender ? p.rank + pairs : p.rank - pairs;
  p.options = &o;
  p.out = calloc((size_t)o.largest + 1, 1);
  p.in = calloc((size_t)o.largest + 1, 1);
  p.requests = malloc(2 * (size_t)o.window * sizeof *p.requests);
  const int print = p.rank == 0, paired = p.rank < 2 * pairs;
  if (print) print_head(&o);
  for (p.size = o.smallest; p.size <= o.largest && pairs > 0; p.size = next_size(p.size)) {
    const double bytes = (double)p.size;
    if (wanted(&o, "latency")) {
      const double t = time_rounds(&p, ping_pong, first);
      if (print) print_row(&o, "latency", p.size, t / 2 * 1e6, "us");
    }
    if (wanted(&o, "bandwidth")) {
      const double t = time_rounds(&p, stream, first);
      if (print) print_row(&o, "bandwidth", p.size, bytes * window / t * per_byte_ns, "GB/s");
    }
    if (wanted(&o, "bi-bandwidth")) {
      const double t = time_rounds(&p, both_ways, first);
      if (print)
        print_row(&o, "bi-bandwidth", p.size, 2 * bytes * window / t * per_byte_ns, "GB/s");
    }
    if (wanted(&o, "multi-latency")) {
      const double t = time_rounds(&p, ping_pong, paired);
      if (print) print_row(&o, "multi-latency", p.size, t / 2 * 1e6, "us");
    }
    if (wanted(&o, "message-rate")) {
      const double t = time_rounds(&p, stream, paired);
      if (print) print_row(&o, "message-rate", p.size, pairs * window / t * per_us, "million/s");
    }
  }
  free(p.out);
  free(p.in);
  free(p.requests);
  MPI_Finalize();
  return 0;
}
