! SPDX-License-Identifier: Apache-2.0
! The program's own procedures stand before the library's; names with PMPI_ reach the library's.
program profile
  use mpi_f08
  use checks
  use profiler, only: sends, waits, sent_count
  implicit none
  type(MPI_Request) :: requests(1)
  integer :: rank, ranks, ierror, x, section(6), i

  call PMPI_Init()
  call PMPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  x = -1
  section = 0
  if (rank == 0) then
    call MPI_Send(5, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
    section = [(i, i = 1, 6)]
    call MPI_Send(section(1:6:2), 3, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
    call check(ierror == MPI_SUCCESS, 'error code')
    call PMPI_Send(6, 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD)
  else if (rank == 1) then
    call PMPI_Irecv(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(x)
    call check(x == 5, 'message')
    call PMPI_Recv(section(2:6:2), 3, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(section == [0, 1, 0, 3, 0, 5]), 'section')
    call MPI_Recv(x, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(x == 6, 'third message')
  end if
  call check(sends == merge(2, 0, rank == 0) .and. sent_count == merge(4, 0, rank == 0), 'sends')
  call check(waits == merge(1, 0, rank == 1), 'waits')
  call MPI_Finalize()
  call finish('profile', rank)
end program
