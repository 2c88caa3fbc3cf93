/* SPDX-License-Identifier: Apache-2.0
 * Works until a minute has passed, as benchmarks do. */
#include <mpi.h>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  for (int done = 0; !done;) {
    done = MPI_Wtime() > 60;
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
