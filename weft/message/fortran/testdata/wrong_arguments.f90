! SPDX-License-Identifier: Apache-2.0
! Must not compile: module mpi knows what the arguments are.
program wrong_arguments
  use mpi
  implicit none
  integer :: rank, ierror
  double precision :: x
  call mpi_comm_rank(MPI_COMM_WORLD, rank)
  call mpi_send(x, 1, MPI_DOUBLE_PRECISION, 1.5, 0, MPI_COMM_WORLD, ierror)
end program
