/* SPDX-License-Identifier: Apache-2.0
 * A plug-in that uses MPI, for programs that do not. */
#include <mpi.h>
#include <stdio.h>

int use_mpi(void) {
  int before = -1, rank = -1, ranks = -1, sum = 0, from = -1;
  MPI_Info info;
  MPI_Initialized(&before);
  MPI_Info_create(&info);
  MPI_Init(0, 0);
  MPI_Info_free(&info);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1, MPI_INT,
               (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("initialized %d, rank %d of %d, from %d, sum %d\n", before, rank, ranks, from, sum);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
