! SPDX-License-Identifier: Apache-2.0
! Ranks write a file together, through views, and read it again.
program shared_files
  use mpi_f08
  use checks
  implicit none
  integer, parameter :: rows = 6
  integer :: rank, ranks, got, mode, i, ierror
  type(MPI_File) :: file
  type(MPI_Datatype) :: column
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  integer, asynchronous :: mine(rows), back(rows)
  integer, allocatable :: all(:, :)
  integer(MPI_OFFSET_KIND) :: bytes, at
  integer(MPI_ADDRESS_KIND) :: lower, extent

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  mode = ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE)
  call MPI_File_open(MPI_COMM_WORLD, 'shared_files.data', mode, MPI_INFO_NULL, file, ierror)
  call check(ierror == MPI_SUCCESS .and. file /= MPI_FILE_NULL, 'File_open')
  ! Each rank has every so manyth number.
  lower = 0
  extent = 4 * ranks
  call MPI_Type_create_resized(MPI_INTEGER, lower, extent, column)
  call MPI_Type_commit(column)
  at = 4 * rank
  call MPI_File_set_view(file, at, MPI_INTEGER, column, 'native', MPI_INFO_NULL, ierror)
  call check(ierror == MPI_SUCCESS, 'File_set_view')
  mine = [(100 * rank + i, i = 1, rows)]
  call MPI_File_write_all(file, mine, rows, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, got)
  call check(got == rows, 'File_write_all')
  at = 0
  call MPI_File_iread_at(file, at, back, rows, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call check(.not. any(mine /= back), 'File_iread_at')
  call MPI_File_get_size(file, bytes)
  call check(bytes == 4 * rows * ranks, 'File_get_size')
  call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  allocate (all(ranks, rows))
  call MPI_File_read_ordered(file, back, rows, MPI_INTEGER, status)
  call MPI_File_get_position_shared(file, at)
  call check(at == rows * ranks, 'File_get_position_shared')
  at = 0
  call MPI_File_read_at_all(file, at, all, rows * ranks, MPI_INTEGER, status)
  call check(.not. any(all(rank + 1, :) /= mine), 'File_read_at_all')
  call MPI_Type_free(column)
  call MPI_File_close(file, ierror)
  call check(ierror == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'File_close')
  call MPI_Finalize()
  call finish('shared_files', rank)
end program
