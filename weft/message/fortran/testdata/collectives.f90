! SPDX-License-Identifier: Apache-2.0
! Operations of all ranks, some in place.
program collectives
  use mpi
  use checks
  implicit none
  integer :: rank, ranks, ierror, i, root, request, info
  integer, allocatable :: all_ranks(:), counts(:), places(:), table(:), types(:)
  integer :: one, two, pair(2), best(2)
  double precision :: x(3), y(3), place(2), where_max(2)
  logical :: yes

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  allocate (all_ranks(ranks), counts(ranks), places(ranks), table(ranks), types(ranks))
  root = ranks - 1

  call mpi_barrier(MPI_COMM_WORLD, ierror)
  x = merge(2.5d0, 0d0, rank == root)
  call mpi_bcast(x, 3, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, ierror)
  call check(all(x == 2.5d0), 'bcast')

  one = rank
  call mpi_allreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(one == ranks * (ranks - 1) / 2, 'allreduce in place')
  x = [1d0, dble(rank), -dble(rank)]
  call mpi_allreduce(x, y, 3, MPI_REAL8, MPI_MAX, MPI_COMM_WORLD, ierror)
  call check(all(y == [1d0, ranks - 1d0, 0d0]), 'allreduce')
  one = rank + 1
  if (rank == root) then
    call mpi_reduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_MIN, root, MPI_COMM_WORLD, ierror)
    call check(one == 1, 'reduce in place')
  else
    call mpi_reduce(one, two, 1, MPI_INTEGER, MPI_MIN, root, MPI_COMM_WORLD, ierror)
  end if
  call mpi_allreduce(rank == 3, yes, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
  call check(yes, 'logical or')
  place = [dble(modulo(rank * 7, ranks)), dble(rank)]
  call mpi_allreduce(place, where_max, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, &
                     ierror)
  call check(where_max(1) == ranks - 1 .and. modulo(nint(where_max(2)) * 7, ranks) == ranks - 1, &
             'maxloc')
  pair = [-rank, rank]
  call mpi_allreduce(pair, best, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierror)
  call check(all(best == [1 - ranks, ranks - 1]), 'minloc')

  all_ranks = -1
  all_ranks(rank + 1) = rank
  call mpi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 1, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierror)
  call check(all(all_ranks == [(i, i = 0, ranks - 1)]), 'allgather in place')
  all_ranks = -1
  call mpi_gather(rank, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
  if (rank == root) call check(all_ranks(3) == 2, 'gather')
  all_ranks = [(5 * i, i = 0, ranks - 1)]
  if (rank == root) then
    call mpi_scatter(all_ranks, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, &
                     MPI_COMM_WORLD, ierror)
  else
    call mpi_scatter(all_ranks, 1, MPI_INTEGER, one, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call check(one == 5 * rank, 'scatter')
  end if

  counts = 1
  places = [(ranks - 1 - i, i = 0, ranks - 1)]
  all_ranks = -1
  call mpi_allgatherv(rank, 1, MPI_INTEGER, all_ranks, counts, places, MPI_INTEGER, &
                      MPI_COMM_WORLD, ierror)
  call check(all(all_ranks == places), 'allgatherv')
  table = [(100 * rank + i, i = 0, ranks - 1)]
  call mpi_alltoall(table, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoall')
  places = [(4 * i, i = 0, ranks - 1)]
  types = MPI_INTEGER
  all_ranks = -1
  call mpi_alltoallw(table, counts, places, types, all_ranks, counts, places, types, &
                     MPI_COMM_WORLD, ierror)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoallw')
  all_ranks = table
  call mpi_ialltoallw(MPI_IN_PLACE, counts, places, types, all_ranks, counts, places, types, &
                      MPI_COMM_WORLD, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'ialltoallw in place')
  all_ranks = table
  counts = 1
  places = [(i, i = 0, ranks - 1)]
  call mpi_alltoallv(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, all_ranks, counts, places, &
                     MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(all_ranks == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoallv in place')

  call mpi_scan(1, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(one == rank + 1, 'scan')
  one = 1
  call mpi_exscan(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(rank == 0 .or. one == rank, 'exscan in place')
  table = rank
  call mpi_reduce_scatter(table, one, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(one == ranks * (ranks - 1) / 2, 'reduce_scatter')
  call mpi_reduce_scatter_block(table, one, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
  call check(one == ranks - 1, 'reduce_scatter_block')

  one = rank
  call mpi_iallreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call check(one == ranks - 1, 'iallreduce')
  call mpi_ibarrier(MPI_COMM_WORLD, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  info = MPI_INFO_NULL
  call mpi_bcast_init(two, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, info, request, ierror)
  do i = 1, 2
    if (rank == 0) two = 10 * i
    call mpi_start(request, ierror)
    call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
    call check(two == 10 * i, 'bcast_init')
  end do
  call mpi_request_free(request, ierror)
  call mpi_finalize(ierror)
  call finish('collectives', rank)
end program
