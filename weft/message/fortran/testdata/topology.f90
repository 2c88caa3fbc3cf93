! SPDX-License-Identifier: Apache-2.0
! Cartesian and graph topologies, and what neighbours exchange.
program topology
  use mpi
  use checks
  implicit none
  integer :: rank, ranks, ierror, grid, row, graph, dims(2), coords(2), got_dims(2), up, down, kind
  integer :: number, size, indegree, outdegree, sources(2), destinations(2), weights(2), i
  integer :: values(4), counts(4), types(4), sent(4)
  integer(kind=MPI_ADDRESS_KIND) :: places(4)
  logical :: periods(2), weighted

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  dims = [0, 2]
  call mpi_dims_create(ranks, 2, dims, ierror)
  call check(all(dims == [ranks / 2, 2]), 'dims')
  call mpi_cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierror)
  call mpi_topo_test(grid, kind, ierror)
  call check(kind == MPI_CART, 'kind')
  call mpi_cart_get(grid, 2, got_dims, periods, coords, ierror)
  call check(all(got_dims == dims) .and. periods(1) .and. .not. periods(2), 'get')
  call check(all(coords == [rank / 2, modulo(rank, 2)]), 'coords')
  call mpi_cart_rank(grid, [-1, 1], number, ierror)
  call check(number == ranks - 1, 'rank')
  call mpi_cart_shift(grid, 0, 1, down, up, ierror)
  call check(up == modulo(rank + 2, ranks) .and. down == modulo(rank - 2, ranks), 'shift')
  call mpi_cart_shift(grid, 1, 1, down, up, ierror)
  call check((up == MPI_PROC_NULL) .eqv. (coords(2) == 1), 'edge')
  call mpi_cart_sub(grid, [.true., .false.], row, ierror)
  call mpi_comm_size(row, size, ierror)
  call check(size == ranks / 2, 'sub')

  values = -1
  call mpi_neighbor_allgather(rank, 1, MPI_INTEGER, values, 1, MPI_INTEGER, grid, ierror)
  call check(values(1) == modulo(rank - 2, ranks) .and. values(2) == modulo(rank + 2, ranks), &
             'neighbours')
  call check((values(4) == -1) .eqv. (coords(2) == 1), 'no neighbour')
  sent = [(10 * rank + i, i = 1, 4)]
  counts = 1
  places = [0, 4, 8, 12]
  types = MPI_INTEGER
  values = -1
  call mpi_neighbor_alltoallw(sent, counts, places, types, values, counts, places, types, grid, &
                              ierror)
  call check(values(1) == 10 * modulo(rank - 2, ranks) + 2, 'neighbour alltoallw')

  call mpi_dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [modulo(rank - 1, ranks)], &
                                      MPI_UNWEIGHTED, 1, [modulo(rank + 1, ranks)], &
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
  call mpi_dist_graph_neighbors_count(graph, indegree, outdegree, weighted, ierror)
  call check(indegree == 1 .and. outdegree == 1 .and. .not. weighted, 'ring')
  call mpi_dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, &
                                MPI_UNWEIGHTED, ierror)
  call check(sources(1) == modulo(rank - 1, ranks), 'source')
  call mpi_comm_free(graph, ierror)
  call mpi_dist_graph_create(MPI_COMM_WORLD, 1, [rank], [2], [modulo(rank + 1, ranks), &
                             modulo(rank + 2, ranks)], [7, 9], MPI_INFO_NULL, .false., graph, ierror)
  call mpi_dist_graph_neighbors_count(graph, indegree, outdegree, weighted, ierror)
  call check(indegree == 2 .and. outdegree == 2 .and. weighted, 'weighted')
  call mpi_dist_graph_neighbors(graph, 2, sources, weights, 2, destinations, weights, ierror)
  call check(sum(weights) == 16, 'weights')
  call mpi_comm_free(graph, ierror)

  call mpi_graph_create(MPI_COMM_WORLD, 3, [1, 3, 4], [1, 0, 2, 1], .false., graph, ierror)
  call check((graph == MPI_COMM_NULL) .eqv. (rank > 2), 'graph')
  if (graph /= MPI_COMM_NULL) then
    call mpi_graph_neighbors_count(graph, rank, number, ierror)
    call check(number == merge(2, 1, rank == 1), 'graph neighbours')
    values = -1
    call mpi_neighbor_alltoallw(sent, counts, places, types, values, counts, places, types, &
                                graph, ierror)
    if (rank == 1) call check(all(values(1:2) == [1, 21]), 'graph alltoallw')
  end if
  call mpi_finalize(ierror)
  call finish('topology', rank)
end program
