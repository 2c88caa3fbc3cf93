! SPDX-License-Identifier: Apache-2.0
! What programs call after failures, where nobody fails.
program failures_of_ranks
  use mpi
  use checks
  implicit none
  integer :: rank, ranks, ierror, comm, left, group, count, value, request, class
  logical :: revoked

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call mpi_comm_get_failed(MPI_COMM_WORLD, group, ierror)
  call mpi_group_size(group, count, ierror)
  call check(count == 0, 'failed')
  call mpi_comm_ack_failed(MPI_COMM_WORLD, 1, count, ierror)
  call check(count == 0, 'acknowledged')
  value = ibset(ibset(0, 20), rank)
  call mpi_comm_agree(MPI_COMM_WORLD, value, ierror)
  call check(value == ibset(0, 20) .and. ierror == MPI_SUCCESS, 'agreement')
  value = ibclr(7, 1)
  call mpi_comm_iagree(MPI_COMM_WORLD, value, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call check(value == 5, 'started agreement')

  call mpi_comm_dup(MPI_COMM_WORLD, comm, ierror)
  call mpi_comm_is_revoked(comm, revoked, ierror)
  call check(.not. revoked, 'not revoked')
  call mpi_barrier(comm, ierror)
  call mpi_comm_revoke(comm, ierror)
  call mpi_comm_is_revoked(comm, revoked, ierror)
  call check(revoked, 'revoked')
  call mpi_barrier(comm, ierror)
  call mpi_error_class(ierror, class, ierror)
  call check(class == MPI_ERR_REVOKED .and. class /= MPI_ERR_PROC_FAILED, 'class')
  call mpi_comm_shrink(comm, left, ierror)
  call mpi_comm_size(left, count, ierror)
  call check(count == ranks, 'shrunk')
  call mpi_barrier(left, ierror)
  call check(ierror == MPI_SUCCESS, 'goes on')
  call mpi_comm_free(left, ierror)
  call mpi_comm_ishrink(comm, left, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call mpi_comm_rank(left, count, ierror)
  call check(count == rank, 'rank')
  call mpi_comm_free(left, ierror)
  call mpi_comm_free(comm, ierror)
  call mpi_finalize(ierror)
  call finish('failures', rank)
end program
