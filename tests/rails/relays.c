// SPDX-License-Identifier: Apache-2.0
// relays WHAT SECONDS ROUNDS BYTES
// The first and the last rank exchange messages, whose every byte is checked; all others, which may
// have to relay them, meanwhile do WHAT:
//   compute   nothing but compute, for so long
//   leave     go straight to MPI_Finalize
//   die       all but rank 1 compute; that one ends itself without a word after half the time
//   exit      end without MPI_Finalize, after half the time
//   call      compute for a few milliseconds between calls, for so long
// The first prints how many milliseconds the exchange took, and "ok" if all was right.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int self, ranks;

static void compute(double seconds) {
  volatile double busy = 0;
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    for (int i = 0; i < 1000; ++i) busy = busy + i;
  }
}

static void call_often(double seconds) {
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    compute(0.003);
  }
}

static unsigned char byte_of(int from, int round, int i) {
  return (unsigned char)(from * 31 + round * 7 + i);
}

static int exchange(int peer, int rounds, int bytes) {
  if (bytes < 0) return 1;
  unsigned char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < bytes; ++i) out[i] = byte_of(self, round, i);
    memset(in, 0, (size_t)bytes);
    wrong += MPI_Sendrecv(out, bytes, MPI_BYTE, peer, round, in, bytes, MPI_BYTE, peer, round,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    for (int i = 0; i < bytes; ++i) wrong += in[i] != byte_of(peer, round, i);
  }
  free(out), free(in);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const what = argv[1];
  const double seconds = atof(argv[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  int wrong = 0;
  if (self == 0 || self == ranks - 1) {
    const double begin = MPI_Wtime();
    wrong = exchange(ranks - 1 - self, atoi(argv[3]), atoi(argv[4]));
    if (self == 0) printf("%.0f ms\n%s\n", (MPI_Wtime() - begin) * 1e3, wrong ? "wrong" : "ok");
    fflush(stdout);
  } else if (strcmp(what, "compute") == 0) {
    compute(seconds);
  } else if (strcmp(what, "call") == 0) {
    call_often(seconds);
  } else if (strcmp(what, "die") == 0) {
    compute(seconds / 2);
    if (self == 1) kill(getpid(), SIGKILL);
    compute(seconds / 2);
  } else if (strcmp(what, "exit") == 0) {
    compute(seconds / 2);
    exit(0);
  }
  MPI_Finalize();
  return wrong != 0;
}
