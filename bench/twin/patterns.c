// SPDX-License-Identifier: Apache-2.0
// patterns pingpong|call|ring|alltoall|halo BYTES ROUNDS
// One way of communicating, for so many rounds; rank 0 prints the mean time of a round in seconds.
//   pingpong  ranks 0 and 1 send BYTES to and fro; the time is half of a round, the way there
//   call      the same, but the time is that of MPI_Send alone, until it returns
//   ring      all send BYTES to the next rank and receive as many from the one before
//   alltoall  MPI_Alltoall with BYTES for each rank
//   halo      2-D grid of ranks, closed in both directions; BYTES to each of four neighbours
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  MPI_Comm comm;
  int rank, ranks, bytes, neighbours[4];
  char *out, *in;
  double in_send; /* Seconds of rank 0. */
} Job;

static void pingpong(Job* job) {
  if (job->rank > 1) return;
  const int other = 1 - job->rank;
  const double begin = MPI_Wtime();
  if (job->rank == 0) MPI_Send(job->out, job->bytes, MPI_BYTE, other, 1, job->comm);
  job->in_send += MPI_Wtime() - begin;
  MPI_Recv(job->in, job->bytes, MPI_BYTE, other, 1, job->comm, MPI_STATUS_IGNORE);
  if (job->rank == 1) MPI_Send(job->out, job->bytes, MPI_BYTE, other, 1, job->comm);
}

static void ring(Job* job) {
  const int next = (job->rank + 1) % job->ranks, before = (job->rank + job->ranks - 1) % job->ranks;
  MPI_Sendrecv(job->out, job->bytes, MPI_BYTE, next, 1, job->in, job->bytes, MPI_BYTE, before, 1,
               job->comm, MPI_STATUS_IGNORE);
}

static void alltoall(Job* job) {
  MPI_Alltoall(job->out, job->bytes, MPI_BYTE, job->in, job->bytes, MPI_BYTE, job->comm);
}

static void halo(Job* job) {
  MPI_Request open[8];
  for (int k = 0; k < 4; ++k) {
    const size_t at = (size_t)k * (size_t)job->bytes;
    MPI_Irecv(job->in + at, job->bytes, MPI_BYTE, job->neighbours[k], k ^ 1, job->comm, &open[k]);
    MPI_Isend(job->out + at, job->bytes, MPI_BYTE, job->neighbours[k], k, job->comm, &open[4 + k]);
  }
  MPI_Waitall(8, open, MPI_STATUSES_IGNORE);
}

static void make_grid(Job* job) {
  int sides[2] = {0, 0};
  const int closed[2] = {1, 1};
  MPI_Dims_create(job->ranks, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, closed, 0, &job->comm);
  for (int k = 0; k < 2; ++k)
    MPI_Cart_shift(job->comm, k, 1, &job->neighbours[2 * k], &job->neighbours[2 * k + 1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const struct {
    const char* name;
    void (*round)(Job*);
  } all[] = {{"pingpong", pingpong},
             {"call", pingpong},
             {"ring", ring},
             {"alltoall", alltoall},
             {"halo", halo}};
  Job job = {.comm = MPI_COMM_WORLD};
  MPI_Comm_rank(job.comm, &job.rank);
  MPI_Comm_size(job.comm, &job.ranks);
  int which = -1;
  for (int i = 0; i < 5; ++i)
    if (argc == 4 && strcmp(argv[1], all[i].name) == 0) which = i;
  if (which < 0 || job.ranks < 2) {
    fprintf(stderr,
            "patterns pingpong|call|ring|alltoall|halo BYTES ROUNDS, on at least 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  job.bytes = atoi(argv[2]);
  const int rounds = atoi(argv[3]);
  const size_t room = (size_t)job.bytes * (size_t)(job.ranks > 4 ? job.ranks : 4);
  job.out = malloc(room);
  job.in = malloc(room);
  if (job.out == NULL || job.in == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(job.out, job.rank, room);
  memset(job.in, 0, room);
  if (all[which].round == halo) make_grid(&job);
  for (int i = 0; i < 2 + rounds / 4; ++i) all[which].round(&job);  // Rails learn their rates.
  MPI_Barrier(job.comm);
  job.in_send = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < rounds; ++i) all[which].round(&job);
  const int pair = all[which].round == pingpong;
  const double took = (MPI_Wtime() - begin) / rounds / (pair ? 2 : 1);
  double worst = 0;
  MPI_Reduce(&took, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, job.comm);
  if (job.rank == 0) printf("%.9f\n", which == 1 ? job.in_send / rounds : pair ? took : worst);
  free(job.out);
  free(job.in);
  MPI_Finalize();
  return 0;
}
