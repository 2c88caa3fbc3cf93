/* SPDX-License-Identifier: Apache-2.0 */
/* ends HOW: well, wrong, known (a known fault), never, abort, alone (the last rank fails), or ranks
 * (as many as expected). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const how = argv[1];
  const char* const expected = getenv("EXPECTED_RANKS");
  if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(how, "never") == 0)
    MPI_Recv(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int alone = strcmp(how, "alone") == 0;
  const int right = strcmp(how, "well") == 0 || alone ||
                    (strcmp(how, "ranks") == 0 && expected && atoi(expected) == ranks);
  if (rank == 0) printf("%s\n", right ? " No Errors" : "Found 1 errors");
  MPI_Finalize();
  return alone && rank == ranks - 1 ? 3 : 0;
}
