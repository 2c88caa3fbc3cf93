/* SPDX-License-Identifier: Apache-2.0
 * Programs that go wrong in one rank. Usage: bad HOW */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char* how, const char* one) {
  return strcmp(how, one) == 0;
}

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "";
  int rank = 0, value = 0;
  if (is(how, "no-mpi")) return 0;
  if (is(how, "before-init")) return 7;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d is here\n", rank);
  if (rank == 1) {
    if (is(how, "exit")) exit(5);
    if (is(how, "return")) return 0;
    if (is(how, "_exit")) _exit(6);
    if (is(how, "crash")) raise(SIGSEGV);
    if (is(how, "killed")) raise(SIGKILL);
    if (is(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 9);
    if (is(how, "spin"))
      for (;;) {
      }
    if (is(how, "deadlock")) MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (is(how, "after") && rank == 1) return 3;
  return 0;
}
