! SPDX-License-Identifier: Apache-2.0
! Sections of arrays as buffers: of any stride, rank and type of element, for calls of all kinds.
module section_handlers
  use mpi_f08
  implicit none
  integer :: told = 0, calls = 0
contains
  subroutine note(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    told = error_code
    calls = calls + 1
  end subroutine
  subroutine note_window(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    told = error_code
    calls = calls + 1
  end subroutine
end module

program sections
  use mpi_f08
  use checks
  use section_handlers
  implicit none
  type :: particle
    double precision :: position(2)
    integer :: kind
  end type
  integer :: rank, ranks, right, left

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)
  call shapes()
  call kinds_of_arrays()
  call kinds_of_elements()
  call counts()
  call datatypes()
  call whole_collectives()
  call unequal_collectives()
  call nonblocking_collectives()
  call persistent()
  call one_sided()
  call refused()
  call refused_by_window()
  call MPI_Finalize()
  call finish('sections', rank)

contains
  ! The numbers 1 to size, each with the rank that has them.
  pure function numbered(owner, size) result(values)
    integer, intent(in) :: owner, size
    integer :: values(size), i
    values = [(1000 * owner + i, i = 1, size)]
  end function

  subroutine shapes()
    integer :: a(6, 8), b(6, 8), theirs(6, 8), line(10), other(10)
    integer :: cube(4, 5, 6), other_cube(4, 5, 6), their_cube(4, 5, 6)
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2), status

    ! Both strides, blocking and not.
    a = reshape(numbered(rank, 48), [6, 8])
    theirs = reshape(numbered(left, 48), [6, 8])
    b = -1
    call MPI_Irecv(b(2:6:2, 1:8:3), 9, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(1:5:2, 2:8:3), 9, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call MPI_F_sync_reg(b)
    call check(all(b(2:6:2, 1:8:3) == theirs(1:5:2, 2:8:3)), 'non-blocking')
    call check(count(b == -1) == 39 .and. statuses(1)%MPI_SOURCE == left, 'gaps')
    b = -1
    call MPI_Sendrecv(a(3, :), 8, MPI_INTEGER, right, 3, b(5, :), 8, MPI_INTEGER, left, 3, &
                      MPI_COMM_WORLD, status)
    call check(all(b(5, :) == theirs(3, :)) .and. count(b == -1) == 40, 'blocking')

    ! Backwards.
    line = numbered(rank, 10)
    other = -1
    call MPI_Irecv(other(9:1:-2), 5, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Send(line(10:2:-2), 5, MPI_INTEGER, right, 4, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), status)
    call MPI_F_sync_reg(other)
    call check(all(other(9:1:-2) == 1000 * left + [10, 8, 6, 4, 2]), 'backwards')
    call check(all(other(2:10:2) == -1), 'gaps backwards')
    call MPI_Isend(line(10:1:-1), 10, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(1))
    call MPI_Recv(other, 10, MPI_INTEGER, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    line = numbered(left, 10)
    call check(all(other == line(10:1:-1)), 'whole array backwards')

    ! Of rank 3, with one dimension reversed and one of a single element.
    cube = reshape(numbered(rank, 120), [4, 5, 6])
    their_cube = reshape(numbered(left, 120), [4, 5, 6])
    other_cube = -1
    call MPI_Irecv(other_cube(1:4:3, 5:1:-2, 2:3), 12, MPI_INTEGER, left, 6, MPI_COMM_WORLD, &
                   requests(1))
    call MPI_Isend(cube(2:3, 1:3, 6:1:-5), 12, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(other_cube)
    call check(all(other_cube(1:4:3, 5:1:-2, 2:3) == their_cube(2:3, 1:3, 6:1:-5)), 'rank 3')
    call check(count(other_cube == -1) == 108, 'gaps in rank 3')
    other_cube = -1
    call MPI_Sendrecv(cube(:, 2:2, ::2), 12, MPI_INTEGER, right, 6, other_cube(2, 2:5, 1:6:2), &
                      12, MPI_INTEGER, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(other_cube(2, 2:5, 1:6:2) == their_cube(:, 2, ::2)), 'rank 3, blocking')

    ! Of no element: with the count 0 it is a buffer like any other.
    other = -1
    call MPI_Irecv(other(5:4:2), 0, MPI_INTEGER, left, 7, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(1:0, 2:8:3), 0, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Sendrecv(line(3:1), 0, MPI_INTEGER, right, 7, other(2:1:3), 0, MPI_INTEGER, left, 7, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(other == -1), 'no element')
  end subroutine

  subroutine kinds_of_arrays()
    integer :: a(6, 6), i
    integer, allocatable :: space(:, :)
    integer, pointer :: view(:)
    integer, target :: memory(12)

    a = -1
    call through_size(a, 36)
    call check(all(a(1:4, 1) == numbered(left, 4)) .and. count(a == -1) == 32, 'assumed size')
    a = -1
    call through_shape(a(2:6:2, ::5))
    call check(all(reshape(a(2:6:2, ::5), [6]) == numbered(left, 6)), 'assumed shape')
    call check(count(a == -1) == 30, 'gaps of assumed shape')

    allocate (space(4, 3), source=-1)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 1, space(4, 3), 1, MPI_INTEGER, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(space(4, 3) == left .and. count(space == -1) == 11, 'scalar')
    space = rank
    call MPI_Sendrecv_replace(space(2:4:2, :), 6, MPI_INTEGER, right, 1, left, 1, MPI_COMM_WORLD, &
                              MPI_STATUS_IGNORE)
    call check(all(space(2:4:2, :) == left) .and. all(space(1:3:2, :) == rank), 'allocatable')

    memory = [(i, i = 1, 12)] + 100 * rank
    view => memory(3::4)
    call MPI_Sendrecv_replace(view, 3, MPI_INTEGER, right, 2, left, 2, MPI_COMM_WORLD, &
                              MPI_STATUS_IGNORE)
    call check(all(view == [3, 7, 11] + 100 * left) .and. memory(4) == 4 + 100 * rank, 'pointer')
  end subroutine

  subroutine through_size(array, size)
    integer, intent(in) :: size
    integer, intent(inout) :: array(6, *)
    type(MPI_Request) :: request
    call MPI_Irecv(array, size, MPI_INTEGER, left, 8, MPI_COMM_WORLD, request)
    call MPI_Send(numbered(rank, 4), 4, MPI_INTEGER, right, 8, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine

  subroutine through_shape(array)
    integer, intent(inout) :: array(:, :)
    type(MPI_Request) :: request
    call MPI_Irecv(array, size(array), MPI_INTEGER, left, 8, MPI_COMM_WORLD, request)
    call MPI_Send(numbered(rank, 6), 6, MPI_INTEGER, right, 8, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine

  subroutine kinds_of_elements()
    character(len=5) :: words(6), others(6)
    type(particle) :: particles(5), got(5)
    type(MPI_Datatype) :: bare, record
    type(MPI_Request) :: requests(2)
    logical(1) :: flags(8)
    complex(8) :: z(6)
    integer(kind=MPI_ADDRESS_KIND) :: places(3)
    integer :: i

    words = [('word'//achar(65 + rank), i = 1, 6)]
    others = '-'
    call MPI_Irecv(others(6:1:-3), 10, MPI_CHARACTER, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(words(1:6:4), 10, MPI_CHARACTER, right, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(others)
    call check(all(others == ['-   ', '-   ', 'word', '-   ', '-   ', 'word'] // &
                   [' ', ' ', achar(65 + left), ' ', ' ', achar(65 + left)]), 'strings')
    others = '-'
    call MPI_Sendrecv(words(2::3)(5:5), 2, MPI_CHARACTER, right, 1, others(1:3)(2:2), 2, &
                      MPI_CHARACTER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(others(1:2) == '-'//achar(65 + left)) .and. all(others(3:) == '-'), 'letters')

    call MPI_Get_address(particles(1)%position, places(1))
    call MPI_Get_address(particles(1)%kind, places(2))
    call MPI_Get_address(particles(2), places(3))
    places = places - places(1)
    call MPI_Type_create_struct(2, [2, 1], places, [MPI_DOUBLE_PRECISION, MPI_INTEGER], bare)
    call MPI_Type_create_resized(bare, 0_MPI_ADDRESS_KIND, places(3), record)
    call MPI_Type_commit(record)
    particles = [(particle([dble(rank), dble(i)], 10 * rank + i), i = 1, 5)]
    got = particle([-1d0, -1d0], -1)
    call MPI_Irecv(got(5:1:-2), 3, record, left, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(particles(1:5:2), 3, record, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(got)
    call check(all(got%kind == [10 * left + 5, -1, 10 * left + 3, -1, 10 * left + 1]), 'records')
    call check(got(5)%position(1) == left .and. got(5)%position(2) == 1, 'what records have')
    ! A component of all elements.
    got%kind = -1
    call MPI_Sendrecv(particles%kind, 5, MPI_INTEGER, right, 2, got%kind, 5, MPI_INTEGER, left, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(got%kind == 10 * left + [1, 2, 3, 4, 5]), 'components')
    call MPI_Irecv(got%position(2), 5, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(particles%position(1), 5, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, &
                   requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(got)
    call check(all(got%position(2) == left) .and. all(got%kind == 10 * left + [1, 2, 3, 4, 5]), &
               'components, non-blocking')
    call MPI_Type_free(record)

    flags = .false.
    call MPI_Sendrecv([.true._1, .true._1], 2, MPI_LOGICAL1, right, 2, flags(8:1:-7), 2, &
                      MPI_LOGICAL1, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(flags(1) .and. flags(8) .and. count(flags) == 2, 'logical')
    z = (0, 0)
    call MPI_Sendrecv([dble(rank), 5d0], 2, MPI_DOUBLE_PRECISION, right, 2, z(1:5:2)%im, 2, &
                      MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(z(1) == cmplx(0, left, 8) .and. z(3) == (0, 5) .and. z(5) == (0, 0), 'complex parts')
  end subroutine

  subroutine counts()
    integer :: a(12), b(12), expected(12), n
    integer(kind=MPI_COUNT_KIND) :: large
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status

    ! Fewer than the section has; a message that is shorter still.
    a = numbered(rank, 12)
    b = -1
    call MPI_Irecv(b(1:12:3), 3, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(2:12:2), 2, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Wait(requests(1), status)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(b)
    call MPI_Get_elements(status, MPI_INTEGER, n)
    expected = -1
    expected([1, 4]) = 1000 * left + [2, 4]
    call check(all(b == expected) .and. n == 2, 'fewer')
    b = -1
    call MPI_Sendrecv(a(2:12:2), 2, MPI_INTEGER, right, 1, b(1:12:3), 3, MPI_INTEGER, left, 1, &
                      MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(all(b == expected) .and. n == 2, 'fewer, blocking')

    ! What the count leaves out may be the buffer of another call.
    b = -1
    call MPI_Irecv(b(10), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Send(a(1), 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD)
    call MPI_Send(a(2:12:2), 2, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
    call MPI_Recv(b(1:12:3), 2, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(b)
    call check(b(10) == 1000 * left + 1 .and. count(b == -1) == 9, 'two buffers in one section')

    ! Large counts.
    b = -1
    call MPI_Irecv(b(1:12:3), 4_MPI_COUNT_KIND, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(2:12:2), 2_MPI_COUNT_KIND, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Wait(requests(1), status)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(b)
    call MPI_Get_elements(status, MPI_INTEGER, large)
    call check(all(b == expected) .and. large == 2, 'large count')
    b = -1
    call MPI_Send(a(2:12:2), 2_MPI_COUNT_KIND, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
    call MPI_Recv(b(1:12:3), 4_MPI_COUNT_KIND, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call check(all(b == expected), 'large count, blocking')
  end subroutine

  ! A datatype describes the section as if its elements lay side by side.
  subroutine datatypes()
    integer :: a(12), b(12), grid(8, 4), other(8, 4), their_grid(8, 4)
    integer(8) :: wide(6)
    type(MPI_Datatype) :: pair, every_other
    type(MPI_Request) :: requests(2)
    integer :: i

    a = numbered(rank, 12)
    b = -1
    call MPI_Irecv(b(1:12:4), 10, MPI_BYTE, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(3:12:3), 10, MPI_BYTE, right, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(b)
    call check(all(b([1, 5]) == 1000 * left + [3, 6]), 'bytes')
    call check(iand(b(9), 65535) == iand(1000 * left + 9, 65535) .and. shiftr(b(9), 16) == 65535 &
               .and. count(b == -1) == 9, 'part of an element')
    wide = -1
    call MPI_Irecv(wide(1:6:3), 3, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Send([1, 0, 2], 3, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(wide)
    call check(wide(1) == 1 .and. iand(wide(4), 4294967295_8) == 2 .and. wide(4) < 0, 'two in one')

    ! A type covers several elements: side by side in the array, or after a copy.
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    grid = reshape(numbered(rank, 32), [8, 4])
    their_grid = reshape(numbered(left, 32), [8, 4])
    other = -1
    call MPI_Irecv(other(3:6, 1:4:2), 4, pair, left, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(grid(2:5, 2:4:2), 4, pair, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(other)
    call check(all(other(3:6, 1:4:2) == their_grid(2:5, 2:4:2)) .and. count(other == -1) == 24, &
               'pairs')
    other = -1
    call MPI_Sendrecv(grid(1:8:3, :), 6, pair, right, 2, other(2:8:3, :), 6, pair, left, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(other(2:8:3, :) == their_grid(1:8:3, :)), 'pairs of a copy')
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every_other)
    call MPI_Type_commit(every_other)
    b = -1
    call MPI_Sendrecv(a(1:12:2), 1, every_other, right, 2, b(12:2:-2), 1, every_other, left, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(b(12:4:-4) == 1000 * left + [1, 5, 9]) .and. count(b == -1) == 9, 'vector')
    call MPI_Type_free(every_other)
    call MPI_Type_free(pair)
    i = 0
    call MPI_Pack(a(1:12:5), 3, MPI_INTEGER, b(1:5), 20, i, MPI_COMM_WORLD)
    call check(i == 12 .and. all(b(1:3) == a(1:12:5)), 'pack')
    i = 0
    call MPI_Unpack(b(1:5), 20, i, grid(8, 1:3), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(grid(8, 1:3) == a(1:12:5)), 'unpack')
  end subroutine

  subroutine whole_collectives()
    integer :: a(3, 8), b(3, 8), block(4, 0:ranks - 1), i
    a = 1
    a(2, :) = numbered(rank, 8)
    b = -1
    call MPI_Allreduce(a(2, :), b(3, 8:1:-1), 8, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(all(b(3, 8:1:-1) == numbered(ranks - 1, 8)) .and. count(b == -1) == 16, 'allreduce')
    call MPI_Allreduce(MPI_IN_PLACE, a(1:3:2, ::7), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(a(1:3:2, ::7) == ranks) .and. all(a(1:3:2, 2:7) == 1), 'allreduce in place')
    b = -1
    call MPI_Reduce(a(2, ::2), b(1, ::2), 4_MPI_COUNT_KIND, MPI_INTEGER, MPI_MIN, 1, MPI_COMM_WORLD)
    call check(all(b(1, ::2) == merge([1, 3, 5, 7], -1, rank == 1)), 'reduce')
    b = -1
    call MPI_Scan(a(2, 1:2), b(2, 1:2), 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(all(b(2, 1:2) == a(2, 1:2)), 'scan')
    b = 0
    if (rank == 2) b(1, :) = numbered(2, 8)
    call MPI_Bcast(b(1, :), 8, MPI_INTEGER, 2, MPI_COMM_WORLD)
    call check(all(b(1, :) == numbered(2, 8)) .and. all(b(2:, :) == 0), 'bcast')

    block = -1
    call MPI_Allgather(a(2, ::7), 2, MPI_INTEGER, block(2:4:2, :), 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(block(2, :) == [(1000 * i + 1, i = 0, ranks - 1)]), 'allgather')
    call check(all(block(4, :) == [(1000 * i + 8, i = 0, ranks - 1)]), 'allgather, second')
    call check(all(block(1:3:2, :) == -1), 'gaps of allgather')
    block(1, :) = [(100 * rank + i, i = 0, ranks - 1)]
    call MPI_Alltoall(block(1, :), 1, MPI_INTEGER, block(3, :), 1, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(block(3, :) == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoall')
  end subroutine

  ! With a count for each rank: rank i sends or gets one element, the last rank two.
  subroutine unequal_collectives()
    integer :: counts(0:ranks - 1), places(0:ranks - 1), table(2, 0:ranks), expected(0:ranks), i
    counts = 1
    counts(ranks - 1) = 2
    places = [(i, i = 0, ranks - 1)]
    expected = [(i, i = 0, ranks - 1), ranks - 1]
    table = -1
    call MPI_Allgatherv(spread(rank, 1, 2), counts(rank), MPI_INTEGER, table(2, :), counts, &
                        places, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(table(2, :) == expected) .and. all(table(1, :) == -1), 'allgatherv')
    table = -1
    call MPI_Gatherv(spread(rank, 1, 2), counts(rank), MPI_INTEGER, table(1, ranks:0:-1), counts, &
                     places, MPI_INTEGER, 1, MPI_COMM_WORLD)
    call check(all(table(1, ranks:0:-1) == merge(expected, -1, rank == 1)), 'gatherv')
    table(1, :) = 10 * expected
    table(2, :) = -1
    call MPI_Scatterv(table(1, :), counts, places, MPI_INTEGER, table(2, ::ranks), counts(rank), &
                      MPI_INTEGER, 1, MPI_COMM_WORLD)
    call check(table(2, 0) == 10 * rank, 'scatterv')
    call check(table(2, ranks) == merge(10 * rank, -1, rank == ranks - 1), 'scatterv, last')
    table = -1
    table(1, :) = [(100 * rank + i, i = 0, ranks)]
    call MPI_Alltoallv(table(1, :), spread(1, 1, ranks), places, MPI_INTEGER, table(2, :), &
                       spread(1, 1, ranks), places, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(table(2, :ranks - 1) == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoallv')
    table(1, :) = rank
    table(2, :) = -1
    call MPI_Reduce_scatter(table(1, :), table(2, ::ranks), counts, MPI_INTEGER, MPI_SUM, &
                            MPI_COMM_WORLD)
    call check(table(2, 0) == ranks * (ranks - 1) / 2, 'reduce_scatter')
  end subroutine

  subroutine nonblocking_collectives()
    integer :: a(3, 8), all_ranks(2, 0:ranks - 1), i
    type(MPI_Request) :: request
    a = -1
    if (rank == 3) a(2, :) = numbered(3, 8)
    call MPI_Ibcast(a(2, :), 8, MPI_INTEGER, 3, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(a)
    call check(all(a(2, :) == numbered(3, 8)) .and. count(a == -1) == 16, 'ibcast')
    ! What each rank sends, or gets, is one section; what they send together is not.
    a(1, :) = rank
    call MPI_Iallgather(a(1, ::7), 2, MPI_INTEGER, all_ranks, 2, MPI_INTEGER, MPI_COMM_WORLD, &
                        request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(all_ranks)
    call check(all(all_ranks(1, :) == [(i, i = 0, ranks - 1)]), 'iallgather')
    call check(all(all_ranks(2, :) == all_ranks(1, :)), 'iallgather, second')
    call MPI_Iscatter(all_ranks, 2, MPI_INTEGER, a(3, ::7), 2, MPI_INTEGER, 2, MPI_COMM_WORLD, &
                      request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(a)
    call check(all(a(3, ::7) == rank) .and. all(a(3, 2:7) == -1), 'iscatter')
    ! Only the root looks at the buffer for all.
    all_ranks = -1
    if (rank == 2) then
      call MPI_Igather(rank, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, 2, MPI_COMM_WORLD, request)
    else
      call MPI_Igather(rank, 1, MPI_INTEGER, all_ranks(1, :), 1, MPI_INTEGER, 2, MPI_COMM_WORLD, &
                       request)
    end if
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(all_ranks)
    call check(all_ranks(2, 0) == merge(1, -1, rank == 2), 'igather')
  end subroutine

  ! The section is known from the call that made the request.
  subroutine persistent()
    integer :: a(4, 6), b(4, 6), round
    type(MPI_Request) :: requests(2), broadcast
    call MPI_Send_init(a(2, 6:1:-2), 3, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(b(1:4:3, 2:3), 4_MPI_COUNT_KIND, MPI_INTEGER, left, 1, MPI_COMM_WORLD, &
                       requests(2))
    call MPI_Bcast_init(a(3, :), 6, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, broadcast)
    do round = 1, 3
      a = 100 * round + rank
      b = -1
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call MPI_F_sync_reg(b)
      call check(all([b(1, 2), b(4, 2), b(1, 3)] == 100 * round + left), 'persistent')
      call check(count(b == -1) == 21, 'gaps of persistent')
      call MPI_Start(broadcast)
      call MPI_Wait(broadcast, MPI_STATUS_IGNORE)
      call MPI_F_sync_reg(a)
      call check(all(a(3, :) == 100 * round) .and. all(a(4, :) == 100 * round + rank), 'bcast_init')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call MPI_Request_free(broadcast)
  end subroutine

  subroutine one_sided()
    integer, asynchronous :: memory(6)
    integer :: a(2, 6), b(2, 6)
    type(MPI_Win) :: window
    type(MPI_Request) :: request
    memory = -1
    call MPI_Win_create(memory, 24_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    a(1, :) = numbered(rank, 6)
    a(2, :) = -2
    call MPI_Win_fence(0, window)
    call MPI_Put(a(1, ::2), 3, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 3, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call check(all(memory(2:4) == 1000 * left + [1, 3, 5]) .and. count(memory == -1) == 3, 'put')
    call MPI_Win_fence(0, window)  ! Nobody changes it before all have looked.
    call MPI_Accumulate(a(1, 6:4:-1), 3, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, 3, MPI_INTEGER, &
                        MPI_REPLACE, window)
    call MPI_Win_fence(0, window)
    call check(all(memory(4:) == 1000 * left + [6, 5, 4]), 'accumulate')
    b = -1
    call MPI_Get(b(2, 5:1:-2), 3_MPI_COUNT_KIND, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, &
                 3_MPI_COUNT_KIND, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call MPI_F_sync_reg(b)
    call check(all(b(2, 5:1:-2) == 1000 * rank + [6, 5, 4]) .and. count(b == -1) == 9, 'get')
    b = -1
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window)
    call MPI_Rget(b(1, ::5), 2, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window, &
                  request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(b)
    call check(all(b(1, ::5) == 1000 * rank + [1, 3]), 'rget')
    call MPI_Get_accumulate(a(2, ::3), 2, MPI_INTEGER, b(2, 2:6:4), 2, MPI_INTEGER, right, &
                            4_MPI_ADDRESS_KIND, 2, MPI_INTEGER, MPI_SUM, window)
    call MPI_Win_unlock(right, window)
    call MPI_F_sync_reg(b)
    call check(all(b(2, 2:6:4) == 1000 * rank + [5, 4]) .and. b(2, 4) == -1, 'get_accumulate')
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(all(memory(5:) == 1000 * left + [3, 2]), 'after get_accumulate')
    call MPI_Win_free(window)
  end subroutine

  ! What no datatype tells: the communicator's error handler hears of it, and nothing is done.
  subroutine refused()
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    type(MPI_Datatype) :: pair, overlapping
    type(MPI_Request) :: request
    integer :: a(2, 8), b(2, 8), all_ranks(2, 0:ranks - 1), counts(ranks), places(ranks), ierror, i
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_errhandler(note, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Type_create_resized(pair, 0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, overlapping)
    call MPI_Type_commit(overlapping)
    a = rank
    b = -1
    all_ranks = -1
    counts = 1
    places = [(i, i = 0, ranks - 1)]
    call MPI_Iallreduce(a(1, :), b, 8, MPI_INTEGER, MPI_SUM, comm, request, ierror)
    call expect('iallreduce', ierror)
    call MPI_Iallreduce(a, b(1, :), 8, MPI_INTEGER, MPI_SUM, comm, request, ierror)
    call expect('result of iallreduce', ierror)
    call MPI_Ireduce(a(1, :), b, 8_MPI_COUNT_KIND, MPI_INTEGER, MPI_SUM, 0, comm, request, ierror)
    call expect('ireduce', ierror)
    call MPI_Iallgather(rank, 1, MPI_INTEGER, all_ranks(1, :), 1, MPI_INTEGER, comm, request, &
                        ierror)
    call expect('iallgather', ierror)
    call MPI_Igather(rank, 1, MPI_INTEGER, all_ranks(2, :), 1, MPI_INTEGER, rank, comm, request, &
                     ierror)
    call expect('igather', ierror)
    call MPI_Iscatter(all_ranks(1, :), 1, MPI_INTEGER, i, 1, MPI_INTEGER, rank, comm, request, &
                      ierror)
    call expect('iscatter', ierror)
    call MPI_Ialltoall(all_ranks(1, :), 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, comm, request, &
                       ierror)
    call expect('ialltoall', ierror)
    call MPI_Iallgatherv(rank, 1, MPI_INTEGER, all_ranks(1, :), counts, places, MPI_INTEGER, comm, &
                         request, ierror)
    call expect('iallgatherv', ierror)
    call MPI_Alltoallv_init(all_ranks(2, :), counts, places, MPI_INTEGER, all_ranks, counts, &
                            places, MPI_INTEGER, comm, MPI_INFO_NULL, request, ierror)
    call expect('alltoallv_init', ierror)
    call MPI_Isend(a(1, :), 4, pair, right, 1, comm, request, ierror)
    call expect('pairs with gaps', ierror)
    call MPI_Isend(a(1, :), 4, overlapping, right, 1, comm, request, ierror)
    call expect('data beyond the extent', ierror)
    call MPI_Isend(a(1, :), 9, MPI_INTEGER, right, 1, comm, request, ierror)
    call expect('more than the section has', ierror, MPI_ERR_COUNT)
    call check(all(b == -1) .and. all(all_ranks == -1), 'nothing done')
    call MPI_Type_free(pair)
    call MPI_Type_free(overlapping)
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
  end subroutine

  subroutine refused_by_window()
    type(MPI_Comm) :: comm
    type(MPI_Win) :: window
    type(MPI_Errhandler) :: handler
    integer :: a(2, 8), ierror
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_errhandler(note, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Win_create(a(1, :), 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, window, ierror)
    call expect('win_create', ierror)
    call MPI_Errhandler_free(handler)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, comm, window)
    call MPI_Win_create_errhandler(note_window, handler)
    call MPI_Win_set_errhandler(window, handler)
    call MPI_Win_attach(window, a(1, :), 64_MPI_ADDRESS_KIND, ierror)
    call expect('win_attach', ierror)
    call MPI_Win_free(window)
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
  end subroutine

  ! With MPI_ERR_BUFFER, unless told otherwise.
  subroutine expect(what, ierror, other)
    character(len=*), intent(in) :: what
    integer, intent(in) :: ierror
    integer, intent(in), optional :: other
    integer :: error
    error = MPI_ERR_BUFFER
    if (present(other)) error = other
    call check(ierror == error .and. told == error .and. calls == 1, what//' refused')
    told = 0
    calls = 0
  end subroutine
end program
