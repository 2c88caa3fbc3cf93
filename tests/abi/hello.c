/* SPDX-License-Identifier: Apache-2.0
 * Says which library it runs with. Its variables are each rank's own. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int calls = 0;
int total = 0;

int main(int argc, char** argv) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int rank, size, length;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  calls += rank;
  MPI_Allreduce(&calls, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Get_library_version(version, &length);
  if (rank == 0)
    printf("%.*s: %d ranks, %d\n", (int)strcspn(version, " \n,"), version, size, total);
  MPI_Finalize();
  return 0;
}
