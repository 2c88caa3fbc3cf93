// SPDX-License-Identifier: Apache-2.0
// everybody ROUNDS BYTES [die RANK]
// Everybody sends everybody messages whose bytes say from whom, to whom and which; all are looked
// at. With `die` the rank ends itself without a word after half of the rounds, and the others go on
// without it. Rank 0 prints "ok" when all has been right.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char byte_of(int from, int to, int round, int i) {
  return (unsigned char)(from * 31 + to * 17 + round * 7 + i);
}

static int ranks, self, dead = -1;

static int exchange(int round, int bytes, unsigned char* out, unsigned char* in,
                    MPI_Request* open) {
  int count = 0, wrong = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == self || peer == dead) continue;
    for (int i = 0; i < bytes; ++i) out[peer * bytes + i] = byte_of(self, peer, round, i);
    MPI_Irecv(in + peer * bytes, bytes, MPI_BYTE, peer, round, MPI_COMM_WORLD, &open[count++]);
    MPI_Isend(out + peer * bytes, bytes, MPI_BYTE, peer, round, MPI_COMM_WORLD, &open[count++]);
  }
  for (int i = 0; i < count; ++i) wrong += MPI_Wait(&open[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == self || peer == dead) continue;
    for (int i = 0; i < bytes; ++i) wrong += in[peer * bytes + i] != byte_of(peer, self, round, i);
  }
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = atoi(argv[1]), bytes = atoi(argv[2]);
  const int victim = argc > 4 && strcmp(argv[3], "die") == 0 ? atoi(argv[4]) : -1;
  unsigned char* const out = malloc((size_t)ranks * (size_t)bytes);
  unsigned char* const in = malloc((size_t)ranks * (size_t)bytes);
  MPI_Request* const open = malloc(2 * (size_t)ranks * sizeof *open);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    if (victim >= 0 && round == rounds / 2) {
      // Not before everybody has all that it sent.
      for (int peer = 0; peer < ranks; ++peer) {
        int got = 0;
        if (peer == victim) continue;
        if (self == peer) MPI_Send(&got, 1, MPI_INT, victim, rounds, MPI_COMM_WORLD);
        if (self == victim)
          MPI_Recv(&got, 1, MPI_INT, peer, rounds, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      if (self == victim) kill(getpid(), SIGKILL);
      dead = victim;
    }
    wrong += exchange(round, bytes, out, in, open);
  }
  // By hand: a collective operation knows nothing of who is dead.
  for (int peer = 1; peer < ranks; ++peer) {
    int theirs = 0;
    if (peer == dead) continue;
    if (self == peer) MPI_Send(&wrong, 1, MPI_INT, 0, rounds, MPI_COMM_WORLD);
    if (self != 0) continue;
    if (MPI_Recv(&theirs, 1, MPI_INT, peer, rounds, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
      theirs = 1;
    wrong += theirs;
  }
  if (self == 0) printf(wrong == 0 ? "ok\n" : "%d are wrong\n", wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
