! SPDX-License-Identifier: Apache-2.0
! Names that MPI 3.0 removed.
program removed
  use mpi
  use checks
  implicit none
  type :: record
    sequence
    double precision :: x
    integer :: n(3)
  end type
  type(record) :: mine, yours
  integer :: rank, ranks, ierror, base, places(2), type, extent, column, rows, a(4, 4), b(4, 4)

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  call mpi_address(mine%x, base, ierror)
  call mpi_address(mine%n, places(2), ierror)
  places = [0, places(2) - base]
  call check(places(2) == 8, 'address')
  call mpi_type_struct(2, [1, 3], places, [MPI_DOUBLE_PRECISION, MPI_INTEGER], type, ierror)
  call mpi_type_commit(type, ierror)
  call mpi_type_extent(type, extent, ierror)
  call check(extent == 24, 'extent')
  mine = record(rank, [rank, 2, 3])
  call mpi_sendrecv(mine, 1, type, modulo(rank + 1, ranks), 0, yours, 1, type, &
                    modulo(rank - 1, ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call check(yours%n(1) == modulo(rank - 1, ranks) .and. yours%n(3) == 3, 'struct')
  call mpi_type_hvector(4, 1, 16, MPI_INTEGER, column, ierror)
  call mpi_type_hindexed(2, [1, 1], [0, 4], column, rows, ierror)
  call mpi_type_commit(rows, ierror)
  a = rank
  b = -1
  call mpi_sendrecv(a, 1, rows, rank, 0, b, 1, rows, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &
                    ierror)
  call check(all(b(1:2, :) == rank) .and. all(b(3:4, :) == -1), 'rows')
  call mpi_type_lb(rows, base, ierror)
  call mpi_type_ub(rows, extent, ierror)
  call check(base == 0 .and. extent == 56, 'bounds')
  call mpi_finalize(ierror)
  call finish('removed', rank)
end program
