// SPDX-License-Identifier: Apache-2.0
// codes NAME BYTES,BYTES,... [BATCHES]
// One way of communicating with messages of several sizes. Rank 0 prints a line for each size:
// bytes, then lower quartile and median time of a round in microseconds, over batches of rounds.
//   pingpong   ranks 0 and 1 send to and fro; the time is half of a round, the way there
//   stream     rank 0 sends 16 messages to rank 1, which answers once
//   exchange   MPI_Sendrecv with the neighbours in a ring
//   halo       3-D grid of ranks, closed in all directions; six faces by MPI_Isend and MPI_Irecv
//   allreduce  MPI_Allreduce of doubles
//   alltoall   MPI_Alltoall with BYTES for each rank
//   stencil    computes on BYTES of doubles, then swaps 1 KiB with the neighbours in a ring
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { window = 16, edge = 1024, batches_max = 1000 };

typedef struct {
  MPI_Comm comm;
  int rank, ranks, bytes, neighbour[6];
  char *out, *in;
} Job;

static void pingpong(Job* job) {
  if (job->rank > 1) return;
  const int other = 1 - job->rank;
  if (job->rank == 0) MPI_Send(job->out, job->bytes, MPI_BYTE, other, 1, job->comm);
  MPI_Recv(job->in, job->bytes, MPI_BYTE, other, 1, job->comm, MPI_STATUS_IGNORE);
  if (job->rank == 1) MPI_Send(job->out, job->bytes, MPI_BYTE, other, 1, job->comm);
}

static void stream(Job* job) {
  if (job->rank > 1) return;
  MPI_Request open[window];
  for (int i = 0; i < window; ++i) {
    const size_t at = (size_t)i * (size_t)job->bytes;
    if (job->rank == 0)
      MPI_Isend(job->out + at, job->bytes, MPI_BYTE, 1, 1, job->comm, &open[i]);
    else
      MPI_Irecv(job->in + at, job->bytes, MPI_BYTE, 0, 1, job->comm, &open[i]);
  }
  MPI_Waitall(window, open, MPI_STATUSES_IGNORE);
  if (job->rank == 0)
    MPI_Recv(job->in, 1, MPI_BYTE, 1, 2, job->comm, MPI_STATUS_IGNORE);
  else
    MPI_Send(job->out, 1, MPI_BYTE, 0, 2, job->comm);
}

static void exchange_bytes(Job* job, int bytes) {
  const int next = (job->rank + 1) % job->ranks, before = (job->rank + job->ranks - 1) % job->ranks;
  MPI_Sendrecv(job->out, bytes, MPI_BYTE, next, 1, job->in, bytes, MPI_BYTE, before, 1, job->comm,
               MPI_STATUS_IGNORE);
}

static void exchange(Job* job) {
  exchange_bytes(job, job->bytes);
}

static void halo(Job* job) {
  MPI_Request open[12];
  for (int f = 0; f < 6; ++f)
    MPI_Irecv(job->in + (size_t)f * (size_t)job->bytes, job->bytes, MPI_BYTE, job->neighbour[f], f,
              job->comm, &open[f]);
  for (int f = 0; f < 6; ++f)
    MPI_Isend(job->out + (size_t)f * (size_t)job->bytes, job->bytes, MPI_BYTE, job->neighbour[f],
              f ^ 1, job->comm, &open[6 + f]);
  MPI_Waitall(12, open, MPI_STATUSES_IGNORE);
}

static void allreduce(Job* job) {
  MPI_Allreduce(job->out, job->in, job->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
                job->comm);
}

static void alltoall(Job* job) {
  MPI_Alltoall(job->out, job->bytes, MPI_BYTE, job->in, job->bytes, MPI_BYTE, job->comm);
}

static void stencil(Job* job) {
  double* const next = (double*)job->in;
  const double* const now = (const double*)job->out;
  const int count = job->bytes / (int)sizeof(double);
  for (int i = 1; i + 1 < count; ++i)
    next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
  exchange_bytes(job, edge);
}

typedef void (*Round)(Job*);

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

// The same number of rounds on all ranks and in the simulator: it depends on the size alone.
static int rounds_for(const Job* job) {
  const int rounds = (1 << 20) / (job->bytes + 4096);
  return rounds < 4 ? 4 : rounds;
}

static void measure(Job* job, Round round, int batches) {
  static double times[batches_max];
  const size_t room = (size_t)(job->bytes < edge ? edge : job->bytes) *
                      (size_t)(job->ranks > window ? job->ranks : window);
  job->out = malloc(room);
  job->in = malloc(room);
  if (job->out == NULL || job->in == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(job->out, 0, room);
  memset(job->in, 0, room);
  const int rounds = rounds_for(job);
  for (int b = -1; b < batches; ++b) {  // One more, to warm up.
    MPI_Barrier(job->comm);
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) round(job);
    const double took = (MPI_Wtime() - begin) / rounds / (round == pingpong ? 2 : 1);
    if (b >= 0) times[b] = took;
  }
  qsort(times, (size_t)batches, sizeof times[0], by_size);
  if (job->rank == 0)
    printf("%d %.4f %.4f\n", job->bytes, 1e6 * times[batches / 4], 1e6 * times[batches / 2]);
  free(job->out);
  free(job->in);
}

static void make_grid(Job* job) {
  int sides[3] = {0, 0, 0};
  const int closed[3] = {1, 1, 1};
  MPI_Dims_create(job->ranks, 3, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 3, sides, closed, 0, &job->comm);
  for (int k = 0; k < 3; ++k)
    MPI_Cart_shift(job->comm, k, 1, &job->neighbour[2 * k], &job->neighbour[2 * k + 1]);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    Round round;
  } all[] = {{"pingpong", pingpong}, {"stream", stream},       {"exchange", exchange},
             {"halo", halo},         {"allreduce", allreduce}, {"alltoall", alltoall},
             {"stencil", stencil}};
  MPI_Init(&argc, &argv);
  Job job = {.comm = MPI_COMM_WORLD};
  MPI_Comm_rank(job.comm, &job.rank);
  MPI_Comm_size(job.comm, &job.ranks);
  Round round = NULL;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    if (argc > 2 && strcmp(argv[1], all[i].name) == 0) round = all[i].round;
  const int batches = argc > 3 ? atoi(argv[3]) : 21;
  if (round == NULL || job.ranks < 2 || batches < 1 || batches > batches_max) {
    fprintf(stderr, "codes NAME BYTES,BYTES,... [BATCHES], on at least 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (round == halo) make_grid(&job);
  for (char* next = argv[2]; *next != '\0';) {
    job.bytes = (int)strtol(next, &next, 10);
    if (*next == ',') ++next;
    measure(&job, round, batches);
  }
  MPI_Finalize();
  return 0;
}
