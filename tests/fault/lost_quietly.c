/* SPDX-License-Identifier: Apache-2.0
 * A rank is killed while the others compute for longer than the time of grace; they handle errors,
 * or, with the word `fatal`, they do not. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** words) {
  int rank, data = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (count < 2 || strcmp(words[1], "fatal") != 0)
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    usleep(300000); /* The others compute by then. */
    raise(SIGKILL);
  }
  sleep(3);
  const int code = MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d: %s\n", rank, code == MPI_ERR_PROC_FAILED ? "told" : "not told");
  MPI_Finalize();
  return 0;
}
