! SPDX-License-Identifier: Apache-2.0
! Ranks write a file together, through views, and read it again.
program shared_files
  use mpi
  use checks
  implicit none
  integer, parameter :: rows = 6
  integer :: rank, ranks, ierror, file, column, request, got, mode, i
  integer :: status(MPI_STATUS_SIZE), mine(rows), back(rows)
  integer, allocatable :: all(:, :)
  integer(MPI_OFFSET_KIND) :: bytes, at
  integer(MPI_ADDRESS_KIND) :: lower, extent

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  mode = ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE)
  call mpi_file_open(MPI_COMM_WORLD, 'shared_files.data', mode, MPI_INFO_NULL, file, ierror)
  call check(ierror == MPI_SUCCESS .and. file /= MPI_FILE_NULL, 'file_open')
  ! Each rank has every so manyth number.
  lower = 0
  extent = 4 * ranks
  call mpi_type_create_resized(MPI_INTEGER, lower, extent, column, ierror)
  call mpi_type_commit(column, ierror)
  at = 4 * rank
  call mpi_file_set_view(file, at, MPI_INTEGER, column, 'native', MPI_INFO_NULL, ierror)
  call check(ierror == MPI_SUCCESS, 'file_set_view')
  mine = [(100 * rank + i, i = 1, rows)]
  call mpi_file_write_all(file, mine, rows, MPI_INTEGER, status, ierror)
  call mpi_get_count(status, MPI_INTEGER, got, ierror)
  call check(got == rows, 'file_write_all')
  at = 0
  call mpi_file_iread_at(file, at, back, rows, MPI_INTEGER, request, ierror)
  call mpi_wait(request, status, ierror)
  call check(all_same(mine, back), 'file_iread_at')
  call mpi_file_get_size(file, bytes, ierror)
  call check(bytes == 4 * rows * ranks, 'file_get_size')
  call mpi_file_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
  allocate (all(ranks, rows))
  call mpi_file_read_ordered(file, back, rows, MPI_INTEGER, status, ierror)
  call mpi_file_get_position_shared(file, at, ierror)
  call check(at == rows * ranks, 'file_get_position_shared')
  at = 0
  call mpi_file_read_at_all(file, at, all, rows * ranks, MPI_INTEGER, status, ierror)
  call check(all_same(all(rank + 1, :), mine), 'file_read_at_all')
  call mpi_type_free(column, ierror)
  call mpi_file_close(file, ierror)
  call check(ierror == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'file_close')
  call mpi_finalize(ierror)
  call finish('shared_files', rank)
contains
  logical function all_same(left, right)
    integer, intent(in) :: left(:), right(:)
    all_same = size(left) == size(right)
    if (all_same) all_same = .not. any(left /= right)
  end function
end program
