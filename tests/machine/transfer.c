// SPDX-License-Identifier: Apache-2.0
// Rank 0 sends to the rank in the middle, then all exchange with their neighbours; prints the rate.
//   transfer BYTES
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = argc > 1 ? atoi(argv[1]) : 4 << 20;
  char* const out = calloc((size_t)bytes, 1);
  char* const in = calloc((size_t)bytes, 1);
  for (int i = 0; i < bytes; ++i) out[i] = (char)(rank + i);
  const int middle = ranks / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (rank == 0) MPI_Send(out, bytes, MPI_CHAR, middle, 1, MPI_COMM_WORLD);
  if (rank == middle) MPI_Recv(in, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double took = MPI_Wtime() - begin;
  if (rank == middle) printf("rate %.3f GB/s\n", bytes / took * 1e-9);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(out, bytes / 16, MPI_CHAR, right, 2, in, bytes / 16, MPI_CHAR, left, 2,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < bytes / 16; ++i) wrong += in[i] != (char)(left + i);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\nend %.9f\n", all, MPI_Wtime());
  MPI_Finalize();
  return 0;
}
