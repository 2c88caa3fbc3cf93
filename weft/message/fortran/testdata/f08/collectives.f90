! SPDX-License-Identifier: Apache-2.0
! Operations of all ranks, some in place.
program collectives
  use mpi_f08
  use checks
  implicit none
  integer :: rank, ranks, i, root
  type(MPI_Request) :: request
  type(MPI_Datatype), allocatable :: types(:)
  integer, allocatable :: all_ranks(:), counts(:), places(:), table(:)
  integer(kind=MPI_COUNT_KIND), allocatable :: large_counts(:)
  integer(kind=MPI_ADDRESS_KIND), allocatable :: large_places(:)
  integer :: one, two, pair(2), best(2), none(1)
  double precision :: x(3), y(3), place(2), where_max(2)
  logical :: yes

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (all_ranks(ranks), counts(ranks), places(ranks), table(ranks), types(ranks), &
      large_counts(ranks), large_places(ranks))
  root = ranks - 1

  call MPI_Barrier(MPI_COMM_WORLD)
  x = merge(2.5d0, 0d0, rank == root)
  call MPI_Bcast(buffer=x, count=3, datatype=MPI_DOUBLE_PRECISION, root=root, comm=MPI_COMM_WORLD)
  call check(all(x == 2.5d0), 'bcast')

  one = rank
  call MPI_Allreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(one == ranks * (ranks - 1) / 2, 'allreduce in place')
  x = [1d0, dble(rank), -dble(rank)]
  call MPI_Allreduce(sendbuf=x, recvbuf=y, count=3, datatype=MPI_REAL8, op=MPI_MAX, &
                     comm=MPI_COMM_WORLD)
  call check(all(y == [1d0, ranks - 1d0, 0d0]), 'allreduce')
  one = rank + 1
  if (rank == root) then
    call MPI_Reduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_MIN, root, MPI_COMM_WORLD)
    call check(one == 1, 'reduce in place')
  else
    call MPI_Reduce(one, two, 1, MPI_INTEGER, MPI_MIN, root, MPI_COMM_WORLD)
  end if
  call MPI_Allreduce(rank == 3, yes, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD)
  call check(yes, 'logical or')
  place = [dble(modulo(rank * 7, ranks)), dble(rank)]
  call MPI_Allreduce(place, where_max, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD)
  call check(where_max(1) == ranks - 1 .and. modulo(nint(where_max(2)) * 7, ranks) == ranks - 1, &
             'maxloc')
  pair = [-rank, rank]
  call MPI_Allreduce(pair, best, 1_MPI_COUNT_KIND, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD)
  call check(all(best == [1 - ranks, ranks - 1]), 'minloc')

  all_ranks = -1
  all_ranks(rank + 1) = rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(all_ranks == [(i, i = 0, ranks - 1)]), 'allgather in place')
  all_ranks = -1
  call MPI_Gather(rank, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
  call check(merge(all_ranks(3) == 2, all(all_ranks == -1), rank == root), 'gather')
  all_ranks = [(5 * i, i = 0, ranks - 1)]
  if (rank == root) then
    call MPI_Scatter(all_ranks, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
  else
    call MPI_Scatter(all_ranks, 1, MPI_INTEGER, one, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
    call check(one == 5 * rank, 'scatter')
  end if

  counts = 1
  places = [(ranks - 1 - i, i = 0, ranks - 1)]
  all_ranks = -1
  call MPI_Allgatherv(rank, 1, MPI_INTEGER, all_ranks, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(all_ranks == places), 'allgatherv')
  large_counts = 1
  large_places = places
  all_ranks = -1
  call MPI_Allgatherv(rank, 1_MPI_COUNT_KIND, MPI_INTEGER, all_ranks, recvcounts=large_counts, &
                      displs=large_places, recvtype=MPI_INTEGER, comm=MPI_COMM_WORLD)
  call check(all(all_ranks == places), 'large allgatherv')
  all_ranks = -1
  call MPI_Gatherv(rank, 1, MPI_INTEGER, all_ranks, counts, places, MPI_INTEGER, root, &
                   MPI_COMM_WORLD)
  call check(merge(all(all_ranks == places), all(all_ranks == -1), rank == root), 'gatherv')
  table = [(7 * i, i = 0, ranks - 1)]
  call MPI_Scatterv(sendbuf=table, sendcounts=counts, displs=places, sendtype=MPI_INTEGER, &
                    recvbuf=one, recvcount=1, recvtype=MPI_INTEGER, root=root, comm=MPI_COMM_WORLD)
  call check(one == 7 * (ranks - 1 - rank), 'scatterv')
  table = [(100 * rank + i, i = 0, ranks - 1)]
  call MPI_Alltoall(table, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoall')
  places = [(4 * i, i = 0, ranks - 1)]
  types = MPI_INTEGER
  all_ranks = -1
  call MPI_Alltoallw(table, counts, places, types, all_ranks, counts, places, types, MPI_COMM_WORLD)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoallw')
  all_ranks = table
  call MPI_Ialltoallw(MPI_IN_PLACE, counts, places, types, all_ranks, counts, places, types, &
                      MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'ialltoallw in place')
  all_ranks = table
  none = 0
  places = [(i, i = 0, ranks - 1)]
  call MPI_Alltoallv(MPI_IN_PLACE, none, none, MPI_DATATYPE_NULL, all_ranks, counts, places, &
                     MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoallv in place')

  call MPI_Scan(1, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(one == rank + 1, 'scan')
  one = 1
  call MPI_Exscan(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(rank == 0 .or. one == rank, 'exscan in place')
  table = rank
  call MPI_Reduce_scatter(table, one, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(one == ranks * (ranks - 1) / 2, 'reduce_scatter')
  call MPI_Reduce_scatter_block(table, one, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call check(one == ranks - 1, 'reduce_scatter_block')

  one = rank
  call MPI_Iallreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_F_sync_reg(one)
  call check(one == ranks - 1, 'iallreduce')
  call MPI_Ibarrier(MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Bcast_init(two, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
  do i = 1, 2
    if (rank == 0) two = 10 * i
    call MPI_Start(request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(two)
    call check(two == 10 * i, 'bcast_init')
  end do
  call MPI_Request_free(request)
  call check(request == MPI_REQUEST_NULL, 'freed')
  call MPI_Finalize()
  call finish('collectives', rank)
end program
