/* SPDX-License-Identifier: Apache-2.0
 * Latency of every collective operation, over sizes: the mean over all ranks of the time that a
 * call takes, each call after a barrier. The size is what one rank has for one other, or for all.
 * Usage: collectives [--csv] [--min=BYTES] [--max=BYTES] [--rounds=N] [NAME] */
#include "measure.h"

typedef struct {
  int rank, ranks, count; /* Items (bytes, or floats where they are added up) for each rank. */
  char *out, *in;
  int *counts, *places;
  MPI_Datatype* types;
} Call;

static const MPI_Comm world = MPI_COMM_WORLD;

static void barrier(const Call* c) {
  (void)c;
  MPI_Barrier(world);
}
static void bcast(const Call* c) {
  MPI_Bcast(c->out, c->count, MPI_CHAR, 0, world);
}
static void gather(const Call* c) {
  MPI_Gather(c->out, c->count, MPI_CHAR, c->in, c->count, MPI_CHAR, 0, world);
}
static void gatherv(const Call* c) {
  MPI_Gatherv(c->out, c->count, MPI_CHAR, c->in, c->counts, c->places, MPI_CHAR, 0, world);
}
static void scatter(const Call* c) {
  MPI_Scatter(c->out, c->count, MPI_CHAR, c->in, c->count, MPI_CHAR, 0, world);
}
static void scatterv(const Call* c) {
  MPI_Scatterv(c->out, c->counts, c->places, MPI_CHAR, c->in, c->count, MPI_CHAR, 0, world);
}
static void allgather(const Call* c) {
  MPI_Allgather(c->out, c->count, MPI_CHAR, c->in, c->count, MPI_CHAR, world);
}
static void allgatherv(const Call* c) {
  MPI_Allgatherv(c->out, c->count, MPI_CHAR, c->in, c->counts, c->places, MPI_CHAR, world);
}
static void alltoall(const Call* c) {
  MPI_Alltoall(c->out, c->count, MPI_CHAR, c->in, c->count, MPI_CHAR, world);
}
static void alltoallv(const Call* c) {
  MPI_Alltoallv(c->out, c->counts, c->places, MPI_CHAR, c->in, c->counts, c->places, MPI_CHAR,
                world);
}
static void alltoallw(const Call* c) {
  MPI_Alltoallw(c->out, c->counts, c->places, c->types, c->in, c->counts, c->places, c->types,
                world);
}
static void reduce(const Call* c) {
  MPI_Reduce(c->out, c->in, c->count, MPI_FLOAT, MPI_SUM, 0, world);
}
static void allreduce(const Call* c) {
  MPI_Allreduce(c->out, c->in, c->count, MPI_FLOAT, MPI_SUM, world);
}
static void reduce_scatter(const Call* c) {
  MPI_Reduce_scatter(c->out, c->in, c->counts, MPI_FLOAT, MPI_SUM, world);
}
static void reduce_scatter_block(const Call* c) {
  MPI_Reduce_scatter_block(c->out, c->in, c->count, MPI_FLOAT, MPI_SUM, world);
}
static void scan(const Call* c) {
  MPI_Scan(c->out, c->in, c->count, MPI_FLOAT, MPI_SUM, world);
}
static void exscan(const Call* c) {
  MPI_Exscan(c->out, c->in, c->count, MPI_FLOAT, MPI_SUM, world);
}
/* The non-blocking form; the others differ in nothing here. */
static void iallreduce(const Call* c) {
  MPI_Request request;
  MPI_Iallreduce(c->out, c->in, c->count, MPI_FLOAT, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
  const char* name;
  void (*call)(const Call*);
  int item; /* Bytes of one; 0: there is no data. */
} operations[] = {
    {"barrier", barrier, 0},
    {"bcast", bcast, 1},
    {"gather", gather, 1},
    {"gatherv", gatherv, 1},
    {"scatter", scatter, 1},
    {"scatterv", scatterv, 1},
    {"allgather", allgather, 1},
    {"allgatherv", allgatherv, 1},
    {"alltoall", alltoall, 1},
    {"alltoallv", alltoallv, 1},
    {"alltoallw", alltoallw, 1},
    {"reduce", reduce, 4},
    {"allreduce", allreduce, 4},
    {"iallreduce", iallreduce, 4},
    {"reduce_scatter", reduce_scatter, 4},
    {"reduce_scatter_block", reduce_scatter_block, 4},
    {"scan", scan, 4},
    {"exscan", exscan, 4},
};
enum { operation_count = sizeof operations / sizeof operations[0] };

static double mean_time(const Call* c, void (*call)(const Call*), int rounds) {
  double inside = 0, all = 0;
  for (int i = 0; i <= rounds; ++i) {
    MPI_Barrier(world);
    const double start = MPI_Wtime();
    call(c);
    if (i > 0) inside += MPI_Wtime() - start; /* The first is not counted. */
  }
  MPI_Reduce(&inside, &all, 1, MPI_DOUBLE, MPI_SUM, 0, world);
  return all / rounds / c->ranks;
}

static void measure(Call* c, const Options* o, int which) {
  const int item = operations[which].item;
  for (long size = item ? o->smallest : 0; size <= o->largest; size = next_size(size)) {
    if (item > 0 && size < item) continue;
    c->count = item > 0 ? (int)(size / item) : 0;
    for (int i = 0; i < c->ranks; ++i) {
      c->counts[i] = c->count;
      c->places[i] = i * c->count;
    }
    const double t = mean_time(c, operations[which].call, o->rounds);
    if (c->rank == 0) print_row(o, operations[which].name, size, t * 1e6, "us");
    if (item == 0) return;
  }
}

int main(int argc, char** argv) {
  Call c;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &c.rank);
  MPI_Comm_size(world, &c.ranks);
  const Options o = read_options(argc, argv);
  const size_t ranks = (size_t)c.ranks, room = (size_t)o.largest * ranks + 1;
  c.out = calloc(room, 1);
  c.in = calloc(room, 1);
  c.counts = calloc(ranks, sizeof(int));
  c.places = calloc(ranks, sizeof(int));
  c.types = malloc(ranks * sizeof(MPI_Datatype));
  for (int i = 0; i < c.ranks; ++i) c.types[i] = MPI_CHAR;
  if (c.rank == 0) print_head(&o);
  for (int i = 0; i < operation_count; ++i)
    if (wanted(&o, operations[i].name)) measure(&c, &o, i);
  free(c.out);
  free(c.in);
  free(c.counts);
  free(c.places);
  free(c.types);
  MPI_Finalize();
  return 0;
}
