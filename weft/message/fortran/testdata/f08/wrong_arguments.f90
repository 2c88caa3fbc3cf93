! SPDX-License-Identifier: Apache-2.0
! Must not compile: a communicator is no integer, a datatype no communicator, and a status no array.
program wrong_arguments
  use mpi_f08
  implicit none
  integer :: rank, comm, status(MPI_STATUS_SIZE)
  type(MPI_Comm) :: world
  call MPI_Comm_rank(comm, rank)
  call MPI_Send(rank, 1, world, 0, 0, world)
  call MPI_Recv(rank, 1, MPI_INTEGER, 0, 0, world, status)
  if (world == MPI_INTEGER) stop 1
end program
