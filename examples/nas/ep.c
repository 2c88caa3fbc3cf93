/* SPDX-License-Identifier: Apache-2.0
 * EP, "embarrassingly parallel": Gaussian deviates by the polar method, counted by squares around
 * the origin. Ranks meet only at the end. Usage: ep [LOG2 OF PAIRS] */
#include "random46.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rings = 10 };

typedef struct {
  double sums[2];
  long long counts[rings];
} Tally;

/* Pairs `from` to `to` of the sequence. */
static void tally(long long from, long long to, Tally* out) {
  Random46 x = random46_at(2 * (uint64_t)from);
  for (long long i = from; i < to; ++i) {
    const double a = 2 * random46_next(&x) - 1, b = 2 * random46_next(&x) - 1, t = a * a + b * b;
    if (t > 1) continue;
    const double f = sqrt(-2 * log(t) / t), first = a * f, second = b * f;
    const int ring = (int)fmax(fabs(first), fabs(second));
    ++out->counts[ring < rings ? ring : rings - 1];
    out->sums[0] += first;
    out->sums[1] += second;
  }
}

static int same(const Tally* a, const Tally* b) {
  for (int i = 0; i < rings; ++i)
    if (a->counts[i] != b->counts[i]) return 0;
  for (int i = 0; i < 2; ++i)
    if (fabs(a->sums[i] - b->sums[i]) > 1e-8 * fabs(b->sums[i])) return 0;
  return 1;
}

int main(int argc, char** argv) {
  int rank, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long long pairs = 1ll << (argc > 1 ? atoi(argv[1]) : 16);
  Tally mine = {{0}, {0}}, all = {{0}, {0}}, expected = {{0}, {0}};
  tally(pairs * rank / size, pairs * (rank + 1) / size, &mine);
  MPI_Reduce(mine.sums, all.sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(mine.counts, all.counts, rings, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const double end = MPI_Wtime();
    tally(0, pairs, &expected);
    wrong = !same(&all, &expected);
    printf("EP: %lld pairs on %d ranks, sums %.6f %.6f: %s at %.3f us\n", pairs, size, all.sums[0],
           all.sums[1], wrong ? "WRONG" : "verified", end * 1e6);
  }
  MPI_Finalize();
  return wrong;
}
