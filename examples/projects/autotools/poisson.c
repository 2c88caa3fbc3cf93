/* SPDX-License-Identifier: Apache-2.0
 * Poisson's equation in a square, by conjugate gradients; each rank has some rows of the grid.
 * Usage: poisson [POINTS ON A SIDE]. Exits with 1 if the error is larger than it should be. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int side, rows, first; /* Points on a side; my rows and the first of them. */
static int above, below;      /* Ranks; MPI_PROC_NULL at the border. */

static double* new_rows(void) {
  return calloc((size_t)(rows + 2) * (side + 2), sizeof(double));
}

static double* row(double* grid, int i) {
  return grid + (size_t)i * (side + 2);
}

static void swap_borders(double* grid) {
  MPI_Sendrecv(row(grid, rows), side + 2, MPI_DOUBLE, below, 0, row(grid, 0), side + 2, MPI_DOUBLE,
               above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(row(grid, 1), side + 2, MPI_DOUBLE, above, 1, row(grid, rows + 1), side + 2,
               MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double product(double* a, double* b) {
  double mine = 0, all = 0;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= side; ++j) mine += row(a, i)[j] * row(b, i)[j];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* out = A in, for the five-point stencil. */
static void apply(double* in, double* out) {
  swap_borders(in);
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= side; ++j)
      row(out, i)[j] = 4 * row(in, i)[j] - row(in, i - 1)[j] - row(in, i + 1)[j] -
                       row(in, i)[j - 1] - row(in, i)[j + 1];
}

static double exact(double x, double y) {
  return x * (1 - x) * y * (1 - y);
}

/* Returns how many iterations it took. */
static int solve(double* u, double* r) {
  double *const p = new_rows(), *const ap = new_rows();
  double rr = product(r, r);
  int n = 0;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= side; ++j) row(p, i)[j] = row(r, i)[j];
  for (; rr > 1e-20 && n < 10 * side; ++n) {
    apply(p, ap);
    const double alpha = rr / product(p, ap);
    for (int i = 1; i <= rows; ++i)
      for (int j = 1; j <= side; ++j) {
        row(u, i)[j] += alpha * row(p, i)[j];
        row(r, i)[j] -= alpha * row(ap, i)[j];
      }
    const double next = product(r, r), beta = next / rr;
    for (int i = 1; i <= rows; ++i)
      for (int j = 1; j <= side; ++j) row(p, i)[j] = row(r, i)[j] + beta * row(p, i)[j];
    rr = next;
  }
  free(p);
  free(ap);
  return n;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  side = argc > 1 ? atoi(argv[1]) : 64;
  if (side < ranks) {
    if (rank == 0) fprintf(stderr, "poisson: %d points on a side for %d ranks\n", side, ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  first = (int)((long)side * rank / ranks);
  rows = (int)((long)side * (rank + 1) / ranks) - first;
  above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;

  double *const u = new_rows(), *const r = new_rows();
  const double h = 1.0 / (side + 1);
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= side; ++j) {
      const double x = h * j, y = h * (first + i);
      row(r, i)[j] = 2 * h * h * (x * (1 - x) + y * (1 - y));
    }
  const int iterations = solve(u, r);

  double worst = 0, error = INFINITY;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= side; ++j)
      worst = fmax(worst, fabs(row(u, i)[j] - exact(h * j, h * (first + i))));
  MPI_Allreduce(&worst, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int right = iterations > 0 && error < 1e-9;
  if (rank == 0)
    printf("%d x %d points, %d ranks: %d iterations, %s\n", side, side, ranks, iterations,
           right ? "right" : "WRONG");
  free(u);
  free(r);
  MPI_Finalize();
  return right ? 0 : 1;
}
