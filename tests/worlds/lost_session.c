/* SPDX-License-Identifier: Apache-2.0
 * A rank is lost, in a session that returns errors or in one that does not. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  const int returns = count > 1 && strcmp(words[1], "return") == 0;
  int rank = -1, data = 0;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "lost", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Barrier(comm);
  if (rank == 1) raise(SIGKILL);
  if (MPI_Recv(&data, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE) == MPI_ERR_PROC_FAILED) {
    printf("rank %d is told\n", rank);
    fflush(stdout);
  }
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return 0;
}
