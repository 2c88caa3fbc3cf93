/* SPDX-License-Identifier: Apache-2.0
 * FT: the heat equation on a cube, solved in Fourier space. The cube is cut into slabs, so a
 * transform in three dimensions is one in two, a transposition by all-to-all, and one more. Size
 * and number of ranks are powers of two. Usage: ft [POINTS PER SIDE] [STEPS] */
#include "random46.h"
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex Complex;

static const double pi = 3.14159265358979323846;

/* Points of one line, `stride` apart. Decimation in time; sign -1 forward, 1 backward. */
static void transform_line(Complex* data, int n, int stride, int sign) {
  Complex line[1024];
  for (int i = 0, j = 0; i < n; ++i) { /* j is i with its bits reversed. */
    line[j] = data[i * stride];
    int bit = n >> 1;
    while (bit != 0 && (j & bit) != 0) {
      j ^= bit;
      bit >>= 1;
    }
    j |= bit;
  }
  for (int half = 1; half < n; half *= 2)
    for (int k = 0; k < half; ++k) {
      const Complex w = cexp(sign * I * pi * k / half);
      for (int i = k; i < n; i += 2 * half) {
        const Complex a = line[i], b = w * line[i + half];
        line[i] = a + b;
        line[i + half] = a - b;
      }
    }
  for (int i = 0; i < n; ++i) data[i * stride] = line[i];
}

typedef struct {
  int n, rank, size, planes; /* Of n x n points each. */
  Complex *blocks, *got;
} Cube;

/* data[z][y][x] with our z becomes data[x][y][z] with our x, and the other way round. */
static void transpose(const Cube* c, Complex* data) {
  const int n = c->n, p = c->planes, block = p * p * n;
  for (int to = 0; to < c->size; ++to)
    for (int z = 0; z < p; ++z)
      for (int y = 0; y < n; ++y)
        for (int x = 0; x < p; ++x)
          c->blocks[to * block + (x * n + y) * p + z] = data[(z * n + y) * n + to * p + x];
  MPI_Alltoall(c->blocks, block, MPI_C_DOUBLE_COMPLEX, c->got, block, MPI_C_DOUBLE_COMPLEX,
               MPI_COMM_WORLD);
  for (int from = 0; from < c->size; ++from)
    for (int x = 0; x < p; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < p; ++z)
          data[(x * n + y) * n + from * p + z] = c->got[from * block + (x * n + y) * p + z];
}

static void lines(const Cube* c, Complex* data, int along_y, int sign) {
  for (int plane = 0; plane < c->planes; ++plane)
    for (int i = 0; i < c->n; ++i) {
      Complex* const first = data + plane * c->n * c->n;
      transform_line(along_y ? first + i : first + i * c->n, c->n, along_y ? c->n : 1, sign);
    }
}

static void forward(const Cube* c, Complex* data) {
  lines(c, data, 0, -1);
  lines(c, data, 1, -1);
  transpose(c, data);
  lines(c, data, 0, -1);
}

static void backward(const Cube* c, Complex* data) {
  const double scale = 1.0 / ((double)c->n * c->n * c->n);
  lines(c, data, 0, 1);
  transpose(c, data);
  lines(c, data, 1, 1);
  lines(c, data, 0, 1);
  for (int i = 0; i < c->planes * c->n * c->n; ++i) data[i] *= scale;
}

/* spectrum[x][y][z], our x: each mode has faded by time t. */
static void fade(const Cube* c, const Complex* spectrum, double t, Complex* out) {
  const int n = c->n;
  for (int i = 0; i < c->planes * n * n; ++i) {
    const int k[3] = {c->rank * c->planes + i / (n * n), i / n % n, i % n};
    double square = 0;
    for (int d = 0; d < 3; ++d) {
      const double wave = k[d] < n / 2 ? k[d] : k[d] - n;
      square += wave * wave;
    }
    out[i] = spectrum[i] * exp(-4e-6 * pi * pi * square * t);
  }
}

/* A point by the definition of the transform, without a fast one. */
static Complex direct(const Cube* c, const Complex* spectrum, const int point[3]) {
  const int n = c->n;
  Complex sum = 0, all = 0;
  for (int i = 0; i < c->planes * n * n; ++i) {
    const int kx = c->rank * c->planes + i / (n * n), ky = i / n % n, kz = i % n;
    const int phase = (kx * point[0] + ky * point[1] + kz * point[2]) % n;
    sum += spectrum[i] * cexp(2 * pi * I * phase / n);
  }
  MPI_Allreduce(&sum, &all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  return all / ((double)n * n * n);
}

static double error_at_points(const Cube* c, const Complex* faded, const Complex* values) {
  double worst = 0;
  for (int i = 0; i < 4; ++i) {
    const int n = c->n, point[3] = {7 * i % n, (3 * i + 1) % n, (n - 1 - 5 * i % n) % n};
    const Complex expected = direct(c, faded, point);
    if (point[2] / c->planes != c->rank) continue;
    const int at = (point[2] % c->planes * n + point[1]) * n + point[0];
    worst = fmax(worst, cabs(values[at] - expected));
  }
  return worst;
}

int main(int argc, char** argv) {
  Cube c = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &c.size);
  c.n = argc > 1 ? atoi(argv[1]) : 32;
  const int steps = argc > 2 ? atoi(argv[2]) : 3;
  if (c.n < 2 || c.n > 1024 || (c.n & (c.n - 1)) != 0 || c.n % c.size != 0) {
    if (c.rank == 0) fprintf(stderr, "ft: %d points on %d ranks do not fit\n", c.n, c.size);
    MPI_Finalize();
    return 1;
  }
  c.planes = c.n / c.size;
  const int points = c.planes * c.n * c.n;
  const size_t bytes = (size_t)points * sizeof(Complex);
  Complex *const spectrum = malloc(bytes), *const faded = malloc(bytes), *const u = malloc(bytes);
  Complex* const initial = malloc(bytes);
  c.blocks = malloc(bytes);
  c.got = malloc(bytes);
  Random46 x = random46_at(2 * (uint64_t)points * (uint64_t)c.rank);
  for (int i = 0; i < points; ++i) {
    const double real = random46_next(&x);
    spectrum[i] = real + I * random46_next(&x);
  }
  memcpy(initial, spectrum, bytes);
  forward(&c, spectrum);
  double worst = 0, error = 0, sums[2], all[2];
  for (int step = 0; step <= steps; ++step) {
    fade(&c, spectrum, step, faded);
    memcpy(u, faded, bytes);
    backward(&c, u);
    worst = fmax(worst, error_at_points(&c, faded, u));
    for (int i = 0; step == 0 && i < points; ++i) worst = fmax(worst, cabs(u[i] - initial[i]));
  }
  sums[0] = sums[1] = 0;
  for (int i = 0; i < points; ++i) {
    sums[0] += creal(u[i]);
    sums[1] += cimag(u[i]);
  }
  MPI_Reduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  const double end = MPI_Wtime();
  MPI_Allreduce(&worst, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int wrong = !(error < 1e-12 && worst < 1e-12);
  if (c.rank == 0)
    printf("FT: %d^3 points on %d ranks, %d steps, mean %.6f %.6f: %s at %.3f us\n", c.n, c.size,
           steps, all[0] / pow(c.n, 3), all[1] / pow(c.n, 3), wrong ? "WRONG" : "verified",
           end * 1e6);
  free(spectrum);
  free(faded);
  free(u);
  free(initial);
  free(c.blocks);
  free(c.got);
  MPI_Finalize();
  return wrong;
}
