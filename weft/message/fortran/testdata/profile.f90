! SPDX-License-Identifier: Apache-2.0
! The program's own MPI_SEND stands before the library's.
subroutine mpi_send(buffer, count, datatype, destination, tag, comm, ierror)
  implicit none
  integer :: buffer(*), count, datatype, destination, tag, comm, ierror, calls
  common /counter/ calls
  calls = calls + 1
  call pmpi_send(buffer, count, datatype, destination, tag, comm, ierror)
end subroutine

program profile
  use checks
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, ierror, x, calls
  common /counter/ calls

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  if (rank == 0) call mpi_send([5], 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror)
  if (rank == 1) call pmpi_recv(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call check(rank /= 1 .or. x == 5, 'message')
  call check(calls == merge(1, 0, rank == 0), 'calls')
  call mpi_finalize(ierror)
  call finish('profile', rank)
end program
