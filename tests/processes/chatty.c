/* SPDX-License-Identifier: Apache-2.0
 * Prints without end, to the streams that its arguments name, until a signal or another rank ends
 * it.
 * Usage: chatty out|err|both [die|abort|ignore|end] */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** words) {
  int rank;
  const char* where = count > 1 ? words[1] : "out";
  const char* then = count > 2 ? words[2] : "";
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(then, "ignore") == 0) {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
  }
  if (rank == 0 && strcmp(then, "die") == 0) {
    usleep(500000);
    raise(SIGKILL);
  }
  if (rank == 0 && strcmp(then, "abort") == 0) {
    usleep(500000);
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  for (int i = 0; strcmp(then, "end") != 0 || i < 20000; ++i) {
    if (strcmp(where, "err") != 0) printf("rank %d prints line %d to standard output\n", rank, i);
    if (strcmp(where, "out") != 0)
      fprintf(stderr, "rank %d prints line %d to standard error\n", rank, i);
    MPI_Barrier(MPI_COMM_SELF); /* Under simulation time goes on in calls only. */
  }
  MPI_Finalize();
  return 0;
}
