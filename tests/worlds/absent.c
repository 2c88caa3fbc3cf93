/* SPDX-License-Identifier: Apache-2.0
 * What the library does not have in a simulation says so by an error. */
#include "check.h"

int main(int count, char** words) {
  int rank;
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm comm;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int absent = MPI_ERR_UNSUPPORTED_OPERATION;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_spawn("nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm,
                       MPI_ERRCODES_IGNORE) == absent);
  CHECK(MPI_Open_port(MPI_INFO_NULL, port) == absent);
  CHECK(MPI_Comm_accept("port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm) == absent);
  CHECK(MPI_Lookup_name("service", MPI_INFO_NULL, port) == absent);
  CHECK(MPI_Comm_join(0, &comm) == absent);
  report(rank);
  MPI_Finalize();
  return 0;
}
