/* SPDX-License-Identifier: Apache-2.0 */
/* Communication of four kinds of codes, for comparing networks.
     patterns halo|allreduce|alltoall|gather|gather-ready BYTES [ITERATIONS [SKEW]]
   halo: six faces of BYTES with the neighbours in a 3-D grid; allreduce: BYTES in all;
   alltoall: BYTES to each rank; gather: everybody sends BYTES to rank 0, which receives one after
   the other, or all at once (gather-ready). Prints the mean time of ITERATIONS (usual: 2) that
   ranks run through freely, one after the other without a barrier, after a first one that does not
   count and that they begin up to SKEW microseconds apart (usual: 0); and the mean in step, with a
   barrier before each. Both are until the slowest rank is done, as rank 0 sees it: the barriers'
   own time, measured apart, is taken off, so few short iterations may show a little too little.
   Take eight, and look at the column "longest" of the summary, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { faces = 6 };

static int ranks, self, bytes;
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

static void nothing(void) {}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

/* From a moment when all ranks are there until all have done it; `between` follows each. A rank
   begins `late` seconds after that moment. */
static double time_of(void (*run)(void), int iterations, void (*between)(void), double late) {
  barrier();
  const double start = MPI_Wtime();
  while (late > 0 && MPI_Wtime() < start + late) {
  }
  for (int i = 0; i < iterations; i++) {
    run();
    between();
  }
  barrier();
  return MPI_Wtime() - start;
}

/* What more iterations take longer, so that no barrier counts. Times are compared on one rank, as
   a simulation may carry the sizes of messages without what is in them. */
static double time_free(void (*run)(void), int iterations, double skew) {
  const double late = (double)((unsigned)self * 2654435761u >> 16 & 0xff) / 256 * skew;
  const double first = time_of(run, 1, nothing, late);
  return (time_of(run, iterations + 1, nothing, late) - first) / iterations;
}

static double time_in_step(void (*run)(void), int iterations) {
  const double barriers = time_of(nothing, iterations, barrier, 0);
  return (time_of(run, iterations, barrier, 0) - barriers) / iterations;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void (*run)(void) = argc > 2 ? find_pattern(argv[1]) : NULL;
  bytes = argc > 2 ? atoi(argv[2]) : 0;
  const int iterations = argc > 3 ? atoi(argv[3]) : 2;
  const double skew = argc > 4 ? atof(argv[4]) * 1e-6 : 0;
  if (run == NULL || bytes < 1 || iterations < 1) {
    if (self == 0)
      fprintf(stderr,
              "usage: patterns halo|allreduce|alltoall|gather|gather-ready BYTES [ITERATIONS "
              "[SKEW]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  make_grid();
  const int from_all = run == alltoall || (run == gather_ready && self == 0);
  const size_t blocks = from_all && ranks > faces ? (size_t)ranks : faces;
  out = calloc(blocks, (size_t)bytes + sizeof(double));
  in = calloc(blocks, (size_t)bytes + sizeof(double));
  const double freely = time_free(run, iterations, skew);
  const double in_step = time_in_step(run, iterations);
  if (self == 0)
    printf("%s of %d bytes, %d ranks: %.2f us; in step %.2f us\n", argv[1], bytes, ranks,
           freely * 1e6, in_step * 1e6);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
