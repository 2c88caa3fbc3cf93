/* SPDX-License-Identifier: Apache-2.0
 * Ends in the middle of a session. */
#include <mpi.h>

int main(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  return 0;
}
