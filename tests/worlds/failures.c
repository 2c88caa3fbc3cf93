/* SPDX-License-Identifier: Apache-2.0
 * Functions for failures where nobody fails: agreement, revocation of what waits, and the
 * communicator that is made of those who are left. */
#include "check.h"

int main(int argc, char** argv) {
  int rank, size, left_size, value, flag, data = 0;
  MPI_Comm comm, left;
  MPI_Group failed;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  value = ~(1 << rank);
  CHECK(MPI_Comm_agree(comm, &value) == MPI_SUCCESS && value == ~((1 << size) - 1));
  CHECK(MPI_Comm_get_failed(comm, &failed) == MPI_SUCCESS && failed == MPI_GROUP_EMPTY);
  if (rank == 0) {
    CHECK(MPI_Comm_revoke(comm) == MPI_SUCCESS);
  } else {
    CHECK(MPI_Recv(&data, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE) == MPI_ERR_REVOKED);
  }
  CHECK(MPI_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag);
  CHECK(MPI_Barrier(comm) == MPI_ERR_REVOKED);
  CHECK(MPI_Comm_ishrink(comm, &left, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Comm_size(left, &left_size);
  CHECK(left_size == size);
  CHECK(MPI_Allreduce(&rank, &data, 1, MPI_INT, MPI_SUM, left) == MPI_SUCCESS);
  CHECK(data == size * (size - 1) / 2);
  MPI_Comm_free(&left);
  MPI_Comm_free(&comm);
  report(rank);
  MPI_Finalize();
  return 0;
}
