/* SPDX-License-Identifier: Apache-2.0
 * The measurement of the trunking paper: one large message over several cards, with the part of
 * each card in memory near to it or far. Usage: trunk CARDS [far SENDER-MASK RECEIVER-MASK]; bit i
 * of a mask puts the part of the i-th card used into far memory. Cards are used in their order: the
 * first two sit at one socket. */
#include <mgen-mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { sockets = 2 };

int main(int argc, char** argv) {
  const size_t size = 8u << 20;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int cards = argc > 1 ? atoi(argv[1]) : 4;
  const int far = argc > 4 && strcmp(argv[2], "far") == 0 ? atoi(argv[rank == 0 ? 3 : 4]) : 0;
  char* const data = malloc(size);
  for (int i = 0; i < cards; ++i) {
    const int near = i / 2; /* Cards 0 and 1 at the first socket. */
    const int socket = far >> i & 1 ? sockets - 1 - near : near;
    MGEN_Place_memory(data + size / (size_t)cards * (size_t)i, size / (size_t)cards, socket);
  }
  const MGEN_Tuning tuning = {cards, 1, 0, 0};
  const int rounds = 4;
  char ack[4] = {0};
  double latency = 0, seconds = 0;
  for (int i = 0; i < 2 * rounds; ++i) {
    const size_t now =
        i < rounds ? 4 : size; /* First small ones, for the way back of the answer. */
    const double begin = MPI_Wtime();
    if (rank == 0) {
      MGEN_Send_tuned(data, (int)now, MPI_BYTE, 1, 0, MPI_COMM_WORLD, now == 4 ? NULL : &tuning);
      MPI_Recv(ack, 4, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(data, (int)now, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(ack, 4, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    *(i < rounds ? &latency : &seconds) += MPI_Wtime() - begin;
  }
  if (rank == 0)
    printf("%d cards: %.3f GB/s\n", cards, (double)size * rounds / (seconds - latency / 2) / 1e9);
  free(data);
  MPI_Finalize();
  return 0;
}
