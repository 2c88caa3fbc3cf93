/* SPDX-License-Identifier: Apache-2.0 */
/* Communication of four kinds of codes, for comparing networks.
     patterns halo|allreduce|alltoall|gather|gather-ready BYTES [ITERATIONS [SKEW]]
   halo: six faces of BYTES with the neighbours in a 3-D grid; allreduce: BYTES in all;
   alltoall: BYTES to each rank; gather: everybody sends BYTES to rank 0, which receives one after
   the other, or all at once (gather-ready). Ranks begin up to SKEW microseconds apart (usual: 0).
   Prints the time of an iteration among others, and of one alone, between two barriers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { faces = 6 };

static int ranks, self, bytes;
static double skew;
static char *out, *in;
static int neighbour[faces];
static MPI_Comm grid;

static void make_grid(void) {
  int sides[3] = {0, 0, 0}, round[3] = {1, 1, 1};
  MPI_Dims_create(ranks, 3, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 3, sides, round, 0, &grid);
  for (int axis = 0; axis < 3; axis++)
    MPI_Cart_shift(grid, axis, 1, &neighbour[2 * axis], &neighbour[2 * axis + 1]);
}

/* What leaves by one face comes in by the opposite one. */
static void halo(void) {
  MPI_Request requests[2 * faces];
  for (int face = 0; face < faces; face++)
    MPI_Irecv(in + (size_t)face * bytes, bytes, MPI_BYTE, neighbour[face], face, grid,
              &requests[face]);
  for (int face = 0; face < faces; face++)
    MPI_Isend(out + (size_t)face * bytes, bytes, MPI_BYTE, neighbour[face], face ^ 1, grid,
              &requests[faces + face]);
  MPI_Waitall(2 * faces, requests, MPI_STATUSES_IGNORE);
}

static void allreduce(void) {
  MPI_Allreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void) {
  MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void gather(void) {
  if (self == 0)
    for (int i = 1; i < ranks; i++)
      MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void gather_ready(void) {
  if (self == 0) {
    MPI_Request* requests = malloc((size_t)ranks * sizeof *requests);
    for (int i = 1; i < ranks; i++)
      MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, i, 0, MPI_COMM_WORLD,
                &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(ranks - 1, requests + 1, MPI_STATUSES_IGNORE);
    free(requests);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(void);
} patterns[] = {{"halo", halo},
                {"allreduce", allreduce},
                {"alltoall", alltoall},
                {"gather", gather},
                {"gather-ready", gather_ready}};

static void (*find_pattern(const char* name))(void) {
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (strcmp(patterns[i].name, name) == 0) return patterns[i].run;
  return NULL;
}

/* From a moment when all ranks are there until all have done it. */
static double time_of(void (*run)(void), int iterations) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const double own = (double)((unsigned)self * 2654435761u >> 16 & 0xff) / 256 * skew * 1e-6;
  while (own > 0 && MPI_Wtime() < start + own) {
  }
  for (int i = 0; i < iterations; i++) run();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void (*run)(void) = argc > 2 ? find_pattern(argv[1]) : NULL;
  bytes = argc > 2 ? atoi(argv[2]) : 0;
  const int iterations = argc > 3 ? atoi(argv[3]) : 2;
  skew = argc > 4 ? atof(argv[4]) : 0;
  if (run == NULL || bytes < 1 || iterations < 1) {
    if (self == 0)
      fprintf(stderr,
              "usage: patterns halo|allreduce|alltoall|gather|gather-ready BYTES [ITERATIONS "
              "[SKEW]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  make_grid();
  const size_t blocks = run == alltoall ? (size_t)ranks : faces;
  out = calloc(blocks, (size_t)bytes + sizeof(double));
  in = calloc(blocks, (size_t)bytes + sizeof(double));
  /* What more iterations take longer: the slowest rank counts, the barriers do not. */
  const double once = time_of(run, iterations), twice = time_of(run, 2 * iterations);
  const double each = (twice - once) / iterations;
  if (self == 0)
    printf("%s of %d bytes, %d ranks: %.2f us; alone %.2f us\n", argv[1], bytes, ranks, each * 1e6,
           once / iterations * 1e6);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
