/* SPDX-License-Identifier: Apache-2.0
 * A program with one kind of trouble. Usage: troubled circle | crash | exit | speak */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, size, word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const trouble = argc > 1 ? argv[1] : "";
  if (strcmp(trouble, "circle") == 0)
    MPI_Recv(&word, 1, MPI_INT, (rank + 5) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(trouble, "crash") == 0 && rank == size - 1) *(volatile int*)8 = 1;
  if (strcmp(trouble, "exit") == 0 && rank % 3 == 2) {
    MPI_Finalize();
    return rank;
  }
  if (strcmp(trouble, "speak") == 0) {
    printf("rank %d says something\n", rank);
    fprintf(stderr, "rank %d complains\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d goes\n", rank);
  }
  MPI_Finalize();
  return 0;
}
