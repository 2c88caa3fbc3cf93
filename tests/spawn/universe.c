/* SPDX-License-Identifier: Apache-2.0
 * How many processes there is room for. */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int *universe = NULL, known = -1;
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &known) == MPI_SUCCESS);
  if (rank_in(MPI_COMM_WORLD) == 0 && known) printf("universe %d\n", *universe);
  if (rank_in(MPI_COMM_WORLD) == 0 && !known) printf("universe unknown\n");
  MPI_Finalize();
  return wrong;
}
