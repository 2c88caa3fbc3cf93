// SPDX-License-Identifier: Apache-2.0
// waits HOW [return]: ranks talk for ever, in the way that HOW names: receive, collective or test.
// With `return`, errors come back to the program, which prints "rank R: CLASS" and ends with 1.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

static int receive(void) {
  int token = 0;
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  if (rank == 0) {
    const int code = MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) return code;
  }
  int code = MPI_Recv(&token, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS || rank == 0) return code;
  return MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
}

static int collective(void) {
  static double mine[20000], sum[20000];
  mine[0] = rank;
  return MPI_Allreduce(mine, sum, 20000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int compute_and_test(void) {
  static double data[2][50000];
  volatile double busy = 0;
  MPI_Request open[2];
  int code =
      MPI_Irecv(data[0], 50000, MPI_DOUBLE, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &open[0]);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Isend(data[1], 50000, MPI_DOUBLE, (rank + 1) % size, 2, MPI_COMM_WORLD, &open[1]);
  for (int k = 0; k < 2; ++k) {
    int flag = 0;
    while (code == MPI_SUCCESS && !flag) {
      for (int i = 0; i < 20000; ++i) busy = busy + i;
      code = MPI_Test(&open[k], &flag, MPI_STATUS_IGNORE);
    }
  }
  return code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 1 ? argv[1] : "";
  int (*step)(void) = strcmp(how, "collective") == 0 ? collective : receive;
  if (strcmp(how, "test") == 0) step = compute_and_test;
  if (argc > 2) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("begun"), fflush(stdout);
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS) code = step();
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  printf("rank %d: %s\n", rank, text);
  return 1;
}
