/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0 sends to all others at once and prints its rate in GB/s: what a node can send in all
   directions together. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 4 << 20, ROUNDS = 4, MOST = 64 };

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST) MPI_Abort(MPI_COMM_WORLD, 1);
  static char data[BYTES];
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (rank == 0) {
    MPI_Request sends[ROUNDS * MOST];
    int n = 0;
    for (int round = 0; round < ROUNDS; ++round)
      for (int to = 1; to < size; ++to)
        MPI_Isend(data, BYTES, MPI_CHAR, to, round, MPI_COMM_WORLD, &sends[n++]);
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    for (int from = 1; from < size; ++from)
      MPI_Recv(NULL, 0, MPI_CHAR, from, ROUNDS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%.4f GB/s\n", (double)BYTES * ROUNDS * (size - 1) / (MPI_Wtime() - start) * 1e-9);
  } else {
    for (int round = 0; round < ROUNDS; ++round)
      MPI_Recv(data, BYTES, MPI_CHAR, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_CHAR, 0, ROUNDS, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
