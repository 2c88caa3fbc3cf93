/* SPDX-License-Identifier: Apache-2.0
 * MPI_Finalize waits for all that are connected. Usage: waits [long] */
#include "check.h"
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    if (argc > 1) {
      printf("process %d\n", (int)getpid());
      fflush(stdout);
      sleep(60);
    }
    usleep(500000);
    printf("the child has ended\n");
    fflush(stdout);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                 MPI_ERRCODES_IGNORE);
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("the parents have ended\n");
  return 0;
}
