! SPDX-License-Identifier: Apache-2.0
! Derived datatypes, addresses and packing.
program types
  use mpi_f08
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_double, c_int
  implicit none
  type, bind(c) :: particle
    real(c_double) :: position(3)
    integer(c_int) :: kind, charge
  end type
  integer, parameter :: long = selected_int_kind(18)
  type(particle) :: sent(2), got(2)
  integer :: rank, ranks, right, left, i, position, size, other_size
  type(MPI_Datatype) :: row, block, record, resized, bottom, contents(3), kinds(10), whole
  integer :: n_integers, n_addresses, n_types, combiner, integers(10)
  integer(kind=MPI_ADDRESS_KIND) :: places(3), base, lb, extent, addresses(10), external_size
  integer(kind=MPI_COUNT_KIND) :: large, n_large(4), large_counts(10), large_lb, large_extent
  double precision :: grid(4, 6), other(4, 6)
  integer :: a(3), b(3)
  character(len=1) :: packed(200)
  type(c_ptr) :: memory
  integer, pointer :: values(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)

  ! A row of an array that is stored by columns.
  call MPI_Type_vector(count=6, blocklength=1, stride=4, oldtype=MPI_DOUBLE_PRECISION, newtype=row)
  call MPI_Type_commit(row)
  grid = rank
  other = -1
  call MPI_Sendrecv(grid(2, 1), 1, row, right, 0, other(3, 1), 1, row, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE)
  call check(all(other(3, :) == left) .and. count(other == -1) == 18, 'vector')
  call MPI_Type_create_subarray(2, [4, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, &
                                MPI_DOUBLE_PRECISION, block)
  call MPI_Type_commit(block)
  other = -1
  call MPI_Sendrecv(grid, 1, block, right, 0, other, 1, block, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE)
  call check(all(other(2:3, 3:5) == left) .and. count(other == -1) == 18, 'subarray')

  call MPI_Get_address(sent(1), base)
  call MPI_Get_address(sent(1)%position, places(1))
  call MPI_Get_address(sent(1)%kind, places(2))
  call MPI_Get_address(location=sent(1)%charge, address=places(3))
  do i = 1, 3
    places(i) = MPI_Aint_diff(places(i), base)
  end do
  call check(places(2) == 24 .and. MPI_Aint_add(base, 24_MPI_ADDRESS_KIND) - base == 24, &
             'addresses')
  contents = [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_INTEGER4]
  call MPI_Type_create_struct(count=3, array_of_blocklengths=[3, 1, 1], &
                              array_of_displacements=places, array_of_types=contents, &
                              newtype=record)
  call MPI_Get_address(sent(2), extent)
  call MPI_Type_create_resized(record, 0_MPI_ADDRESS_KIND, extent - base, resized)
  call MPI_Type_commit(resized)
  sent = [particle([1d0, 2d0, dble(rank)], rank, 1), particle([0d0, 0d0, 0d0], -1, -2)]
  call MPI_Sendrecv(sent, 2, resized, right, 0, got, 2, resized, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE)
  call check(got(1)%position(3) == left .and. got(1)%kind == left .and. got(1)%charge == 1, &
             'struct')
  call check(got(2)%kind == -1 .and. got(2)%charge == -2, 'second struct')
  call MPI_Type_size(record, size)
  call MPI_Type_size_x(record, large)
  call check(size == 32 .and. large == 32, 'size')
  call MPI_Type_size(record, large)
  call check(large == 32, 'large size')
  call MPI_Type_get_extent(resized, lb, extent)
  call check(lb == 0 .and. extent == 32, 'extent')
  call MPI_Type_get_true_extent_x(resized, large_lb, large_extent)
  call check(large_lb == 0 .and. large_extent == 32, 'true extent')
  call MPI_Type_get_envelope(record, n_integers, n_addresses, n_types, combiner)
  call check(combiner == MPI_COMBINER_STRUCT .and. n_integers == 4 .and. n_addresses == 3 .and. &
             n_types == 3, 'envelope')
  kinds = MPI_DATATYPE_NULL
  call MPI_Type_get_contents(record, 10, 10, 10, integers, addresses, kinds)
  call check(all(kinds(1:3) == contents) .and. kinds(4) == MPI_DATATYPE_NULL, 'contents')
  call check(integers(1) == 3 .and. addresses(2) == 24, 'numbers in contents')
  ! With large counts.
  call MPI_Type_create_hvector(2_MPI_COUNT_KIND, 3_MPI_COUNT_KIND, 40_MPI_COUNT_KIND, &
                               MPI_INTEGER, whole)
  call MPI_Type_get_envelope(whole, n_large(1), n_large(2), n_large(3), n_large(4), combiner)
  call check(combiner == MPI_COMBINER_HVECTOR .and. n_large(3) == 3 .and. n_large(4) == 1, &
             'large envelope')
  kinds = MPI_DATATYPE_NULL
  call MPI_Type_get_contents(whole, 10_MPI_COUNT_KIND, 10_MPI_COUNT_KIND, 10_MPI_COUNT_KIND, &
                             10_MPI_COUNT_KIND, integers, addresses, large_counts, kinds)
  call check(all(large_counts(1:3) == [2, 3, 40]) .and. kinds(1) == MPI_INTEGER .and. &
             kinds(2) == MPI_DATATYPE_NULL, 'large contents')
  call MPI_Type_free(whole)

  ! Absolute addresses, from MPI_BOTTOM.
  a = [rank, rank + 1, rank + 2]
  b = -1
  call MPI_Get_address(a(3), places(1))
  call MPI_Get_address(a(1), places(2))
  call MPI_Type_create_hindexed(2, [1, 1], places, MPI_INTEGER, bottom)
  call MPI_Type_commit(bottom)
  call MPI_Sendrecv(MPI_BOTTOM, 1, bottom, right, 0, b, 3, MPI_INTEGER, left, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE)
  call check(all(b == [left + 2, left, -1]), 'bottom')

  position = 0
  call MPI_Pack(a, 3, MPI_INTEGER, packed, 200, position, MPI_COMM_WORLD)
  call MPI_Pack(inbuf=grid(1, 1), incount=1, datatype=row, outbuf=packed, outsize=200, &
                position=position, comm=MPI_COMM_WORLD)
  call check(position == 60, 'pack')
  position = 0
  b = 0
  other = 0
  call MPI_Unpack(packed, 200, position, b, 3, MPI_INTEGER, MPI_COMM_WORLD)
  call MPI_Unpack(inbuf=packed, insize=200, position=position, outbuf=other, outcount=6, &
                  datatype=MPI_DOUBLE_PRECISION, comm=MPI_COMM_WORLD)
  call check(all(a == b) .and. all(other(:, 1) == rank), 'unpack')
  places(1) = 0
  call MPI_Pack_external_size('external32', 3, MPI_INTEGER, external_size)
  call MPI_Pack_external('external32', a, 3, MPI_INTEGER, packed, 200_MPI_ADDRESS_KIND, places(1))
  call check(places(1) == 12 .and. external_size == 12, 'external')
  places(1) = 0
  b = 0
  call MPI_Unpack_external('external32', packed, 200_MPI_ADDRESS_KIND, places(1), b, 3, MPI_INTEGER)
  call check(all(a == b), 'from external')

  call MPI_Type_match_size(typeclass=MPI_TYPECLASS_INTEGER, size=8, datatype=whole)
  call MPI_Type_size(whole, size)
  call check(size == 8, 'match size')
  call MPI_Type_create_f90_integer(18, whole)
  call MPI_Type_size(whole, size)
  call check(size == storage_size(1_long) / 8, 'f90 integer')
  call MPI_Sizeof(grid, size)
  call MPI_Sizeof(rank, other_size, i)
  call check(size == 8 .and. other_size == 4 .and. i == MPI_SUCCESS, 'sizeof')
  call MPI_Sizeof((1.0, 2.0), size)
  call check(size == 8, 'sizeof complex')

  call MPI_Alloc_mem(12_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
  call c_f_pointer(memory, values, [3])
  values = [7, 8, 9]
  call check(sum(values) == 24, 'memory')
  call MPI_Free_mem(values)

  do i = 1, 40  ! Numbers of freed types are used again.
    call MPI_Type_contiguous(i, MPI_REAL, whole)
    call MPI_Type_size(whole, size)
    call check(size == 4 * i, 'contiguous')
    call MPI_Type_free(whole)
    call check(whole == MPI_DATATYPE_NULL, 'free')
  end do
  call MPI_Finalize()
  call finish('types', rank)
end program
