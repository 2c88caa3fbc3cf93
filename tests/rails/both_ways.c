// SPDX-License-Identifier: Apache-2.0
// both_ways SECONDS: two ranks send each other messages of all sizes for so long, several in flight
// each way, and check size and every word of what comes, and the memory behind it. Each prints
//   rank R sent N messages M bytes, got N messages M bytes, longest pause S s, wrong W
// and ends with 1 if anything was wrong.
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { flying = 4, most_words = 1 << 18, guard_words = 8 };
static const uint64_t guard = 0x5a5a5a5aa5a5a5a5u;

typedef struct {
  uint64_t* data[flying];
  MPI_Request open[flying];
  uint64_t next, done, bytes;
  int last;  // The empty message is under way, or has come.
} Way;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

static uint64_t word(int sender, uint64_t message, size_t at) {
  return mix((message << 21 | at << 1 | (uint64_t)sender) + 1);
}

// From 8 bytes to 2 MB, as many of each magnitude; never empty.
static size_t words_of(int sender, uint64_t message) {
  const uint64_t luck = mix(~(message << 1 | (uint64_t)sender));
  const size_t limit = (size_t)2 << (luck % 18);
  return 1 + (size_t)(luck >> 20) % limit;
}

static void start(Way* way) {
  memset(way, 0, sizeof *way);
  for (int k = 0; k < flying; ++k) {
    way->open[k] = MPI_REQUEST_NULL;
    way->data[k] = malloc((most_words + guard_words) * sizeof(uint64_t));
    if (way->data[k] == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

static void send_next(Way* out, int me, int more) {
  const int k = (int)(out->next % flying);
  const size_t words = more ? words_of(me, out->next) : 0;
  for (size_t i = 0; i < words; ++i) out->data[k][i] = word(me, out->next, i);
  MPI_Isend(out->data[k], (int)words, MPI_UINT64_T, 1 - me, 1, MPI_COMM_WORLD, &out->open[k]);
  out->last = !more;
  out->bytes += words * sizeof(uint64_t);
  ++out->next;
}

static void receive_next(Way* in, int me) {
  const int k = (int)(in->next++ % flying);
  for (int i = 0; i < most_words + guard_words; ++i) in->data[k][i] = guard;
  MPI_Irecv(in->data[k], most_words, MPI_UINT64_T, 1 - me, 1, MPI_COMM_WORLD, &in->open[k]);
}

static uint64_t check(Way* in, int k, int me, const MPI_Status* status) {
  int count = 0;
  MPI_Get_count(status, MPI_UINT64_T, &count);
  const size_t got = (size_t)count;
  uint64_t wrong = 0;
  in->last = count == 0;
  if (!in->last && got != words_of(1 - me, in->done)) ++wrong;
  for (size_t i = 0; i < got; ++i) wrong += in->data[k][i] != word(1 - me, in->done, i);
  for (size_t i = got; i < got + guard_words; ++i) wrong += in->data[k][i] != guard;
  in->bytes += got * sizeof(uint64_t);
  if (!in->last) ++in->done;
  return wrong;
}

static void finish(Way* in) {
  for (int k = 0; k < flying; ++k) {
    if (in->open[k] == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&in->open[k]);
    MPI_Wait(&in->open[k], MPI_STATUS_IGNORE);
  }
}

// Looks at both ways by turns; a send and a receive are each taken up in the order of their start.
static uint64_t exchange(Way* out, Way* in, int me, double seconds) {
  uint64_t wrong = 0;
  double pause = 0;
  const double begin = MPI_Wtime();
  double previous = begin;
  for (int k = 0; k < flying; ++k) receive_next(in, me);
  while (!out->last || !in->last) {
    int flag = 0;
    MPI_Status status;
    if (!out->last) {
      MPI_Test(&out->open[out->next % flying], &flag, MPI_STATUS_IGNORE);
      if (flag) send_next(out, me, MPI_Wtime() - begin < seconds);
    }
    if (in->last) continue;
    const int k = (int)(in->done % flying);
    MPI_Test(&in->open[k], &flag, &status);
    if (!flag) continue;
    const double now = MPI_Wtime();
    if (now - previous > pause) pause = now - previous;
    previous = now;
    wrong += check(in, k, me, &status);
    if (!in->last) receive_next(in, me);
  }
  MPI_Waitall(flying, out->open, MPI_STATUSES_IGNORE);
  finish(in);
  printf("rank %d sent %" PRIu64 " messages %" PRIu64 " bytes, got %" PRIu64 " messages %" PRIu64
         " bytes, longest pause %.3f s, wrong %" PRIu64 "\n",
         me, out->next - 1, out->bytes, in->done, in->bytes, pause, wrong);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2 || size != 2) {
    fprintf(stderr, "both_ways SECONDS, on 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Way out, in;
  start(&out);
  start(&in);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("begun"), fflush(stdout);
  const uint64_t wrong = exchange(&out, &in, rank, atof(argv[1]));
  for (int k = 0; k < flying; ++k) free(out.data[k]), free(in.data[k]);
  MPI_Finalize();
  return wrong != 0;
}
