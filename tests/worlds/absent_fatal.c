/* SPDX-License-Identifier: Apache-2.0
 * Starts processes, which a simulation does not support, and handles no errors. */
#include <mpi.h>

int main(int count, char** words) {
  MPI_Comm comm;
  MPI_Init(&count, &words);
  MPI_Comm_spawn("nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm,
                 MPI_ERRCODES_IGNORE);
  MPI_Finalize();
  return 0;
}
