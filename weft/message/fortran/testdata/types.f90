! SPDX-License-Identifier: Apache-2.0
! Derived datatypes, addresses and packing.
program types
  use mpi
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  type :: particle
    sequence
    double precision :: position(3)
    integer :: kind
    logical :: charged
  end type
  integer, parameter :: long = selected_int_kind(18)
  type(particle) :: sent(2), got(2)
  integer :: rank, ranks, right, left, ierror, i, position, size, count
  integer :: row, block, record, resized, bottom, contents(3), shape(2), whole
  integer :: n_integers, n_addresses, n_types, combiner, integers(10), kinds(10)
  integer(kind=MPI_ADDRESS_KIND) :: places(3), base, lb, extent, addresses(10)
  integer(kind=MPI_COUNT_KIND) :: large
  double precision :: grid(4, 6), other(4, 6)
  integer :: a(3), b(3)
  character(len=1) :: packed(200)
  integer(kind=MPI_ADDRESS_KIND) :: address
  type(c_ptr) :: memory
  integer, pointer :: values(:)

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)

  ! A row of an array that is stored by columns.
  call mpi_type_vector(6, 1, 4, MPI_DOUBLE_PRECISION, row, ierror)
  call mpi_type_commit(row, ierror)
  grid = rank
  other = -1
  call mpi_sendrecv(grid(2, 1), 1, row, right, 0, other(3, 1), 1, row, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)
  call check(all(other(3, :) == left) .and. count_of(other) == 18, 'vector')
  call mpi_type_create_subarray(2, [4, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, &
                                MPI_DOUBLE_PRECISION, block, ierror)
  call mpi_type_commit(block, ierror)
  other = -1
  call mpi_sendrecv(grid, 1, block, right, 0, other, 1, block, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)
  call check(all(other(2:3, 3:5) == left) .and. count_of(other) == 18, 'subarray')

  call mpi_get_address(sent(1), base, ierror)
  call mpi_get_address(sent(1)%position, places(1), ierror)
  call mpi_get_address(sent(1)%kind, places(2), ierror)
  call mpi_get_address(sent(1)%charged, places(3), ierror)
  do i = 1, 3
    places(i) = mpi_aint_diff(places(i), base)
  end do
  contents = [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_LOGICAL]
  call mpi_type_create_struct(3, [3, 1, 1], places, contents, record, ierror)
  call mpi_get_address(sent(2), extent, ierror)
  call mpi_type_create_resized(record, 0_MPI_ADDRESS_KIND, extent - base, resized, ierror)
  call mpi_type_commit(resized, ierror)
  sent = [particle([1d0, 2d0, dble(rank)], rank, .true.), particle([0d0, 0d0, 0d0], -1, .false.)]
  call mpi_sendrecv(sent, 2, resized, right, 0, got, 2, resized, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)
  call check(got(1)%position(3) == left .and. got(1)%kind == left .and. got(1)%charged, 'struct')
  call check(got(2)%kind == -1 .and. .not. got(2)%charged, 'second struct')
  call mpi_type_size(record, size, ierror)
  call mpi_type_size_x(record, large, ierror)
  call check(size == 32 .and. large == 32, 'size')
  call mpi_type_get_extent(resized, lb, extent, ierror)
  call check(lb == 0 .and. extent == 32, 'extent')
  call mpi_type_get_envelope(record, n_integers, n_addresses, n_types, combiner, ierror)
  call check(combiner == MPI_COMBINER_STRUCT .and. n_types == 3, 'envelope')
  kinds = -5
  call mpi_type_get_contents(record, 10, 10, 10, integers, addresses, kinds, ierror)
  call check(all(kinds(1:3) == contents) .and. kinds(4) == -5, 'contents')
  call check(integers(1) == 3 .and. addresses(2) == 24, 'numbers in contents')

  ! Absolute addresses, from MPI_BOTTOM.
  a = [rank, rank + 1, rank + 2]
  b = -1
  call mpi_get_address(a(3), places(1), ierror)
  call mpi_get_address(a(1), places(2), ierror)
  call mpi_type_create_hindexed(2, [1, 1], places, MPI_INTEGER, bottom, ierror)
  call mpi_type_commit(bottom, ierror)
  call mpi_sendrecv(MPI_BOTTOM, 1, bottom, right, 0, b, 3, MPI_INTEGER, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)
  call check(all(b == [left + 2, left, -1]), 'bottom')

  position = 0
  call mpi_pack(a, 3, MPI_INTEGER, packed, 200, position, MPI_COMM_WORLD, ierror)
  call mpi_pack(grid(1, 1), 1, row, packed, 200, position, MPI_COMM_WORLD, ierror)
  call check(position == 60, 'pack')
  position = 0
  b = 0
  other = 0
  call mpi_unpack(packed, 200, position, b, 3, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call mpi_unpack(packed, 200, position, other, 6, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
  call check(all(a == b) .and. all(other(:, 1) == rank), 'unpack')
  places(1) = 0
  call mpi_pack_external('external32', a, 3, MPI_INTEGER, packed, 200_MPI_ADDRESS_KIND, places(1), &
                         ierror)
  call check(places(1) == 12, 'external')

  call mpi_type_match_size(MPI_TYPECLASS_INTEGER, 8, whole, ierror)
  call mpi_type_size(whole, size, ierror)
  call check(size == 8, 'match size')
  call mpi_type_create_f90_integer(18, whole, ierror)
  call mpi_type_size(whole, size, ierror)
  call check(size == storage_size(1_long) / 8, 'f90 integer')
  call mpi_sizeof(grid, size, ierror)
  call mpi_sizeof(rank, count, ierror)
  call check(size == 8 .and. count == 4, 'sizeof')
  call mpi_sizeof((1.0, 2.0), size, ierror)
  call check(size == 8, 'sizeof complex')

  shape = 3
  call mpi_alloc_mem(12_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory, ierror)
  call c_f_pointer(memory, values, shape(1:1))
  values = [7, 8, 9]
  call check(sum(values) == 24, 'memory')
  call mpi_free_mem(values, ierror)
  call mpi_alloc_mem(12_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, ierror)
  call check(address /= 0, 'memory by address')

  do i = 1, 40  ! Numbers of freed types are used again.
    call mpi_type_contiguous(i, MPI_REAL, whole, ierror)
    call mpi_type_size(whole, size, ierror)
    call check(size == 4 * i, 'contiguous')
    call mpi_type_free(whole, ierror)
    call check(whole == MPI_DATATYPE_NULL, 'free')
  end do
  call mpi_finalize(ierror)
  call finish('types', rank)
contains
  integer function count_of(array)
    double precision, intent(in) :: array(:, :)
    count_of = count_if(reshape(array == -1, [24]))
  end function
  integer function count_if(mask)
    logical, intent(in) :: mask(:)
    integer :: k
    count_if = 0
    do k = 1, ubound(mask, 1)
      if (mask(k)) count_if = count_if + 1
    end do
  end function
end program
