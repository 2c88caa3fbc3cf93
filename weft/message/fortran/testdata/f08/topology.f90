! SPDX-License-Identifier: Apache-2.0
! Cartesian and graph topologies, and what neighbours exchange.
program topology
  use mpi_f08
  use checks
  implicit none
  type(MPI_Comm) :: grid, row, graph
  type(MPI_Datatype) :: types(4)
  integer :: rank, ranks, dims(2), coords(2), got_dims(2), up, down, kind
  integer :: number, size, indegree, outdegree, sources(2), destinations(2), weights(2), i
  integer :: values(4), counts(4), sent(4), indices(3), edges(4)
  integer(kind=MPI_ADDRESS_KIND) :: places(4)
  logical :: periods(2), weighted

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = [0, 2]
  call MPI_Dims_create(nnodes=ranks, ndims=2, dims=dims)
  call check(all(dims == [ranks / 2, 2]), 'dims')
  call MPI_Cart_create(comm_old=MPI_COMM_WORLD, ndims=2, dims=dims, periods=[.true., .false.], &
                       reorder=.false., comm_cart=grid)
  call MPI_Topo_test(grid, kind)
  call check(kind == MPI_CART, 'kind')
  call MPI_Cartdim_get(grid, number)
  call check(number == 2, 'number of dimensions')
  call MPI_Cart_get(grid, 2, got_dims, periods, coords)
  call check(all(got_dims == dims) .and. periods(1) .and. .not. periods(2), 'get')
  call check(all(coords == [rank / 2, modulo(rank, 2)]), 'coords')
  call MPI_Cart_coords(comm=grid, rank=3, maxdims=2, coords=got_dims)
  call check(all(got_dims == [1, 1]), 'coords of a rank')
  call MPI_Cart_rank(grid, [-1, 1], number)
  call check(number == ranks - 1, 'rank')
  call MPI_Cart_shift(grid, direction=0, disp=1, rank_source=down, rank_dest=up)
  call check(up == modulo(rank + 2, ranks) .and. down == modulo(rank - 2, ranks), 'shift')
  call MPI_Cart_shift(grid, 1, 1, down, up)
  call check((up == MPI_PROC_NULL) .eqv. (coords(2) == 1), 'edge')
  call MPI_Cart_sub(grid, [.true., .false.], row)
  call MPI_Comm_size(row, size)
  call check(size == ranks / 2, 'sub')

  values = -1
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, values, 1, MPI_INTEGER, grid)
  call check(values(1) == modulo(rank - 2, ranks) .and. values(2) == modulo(rank + 2, ranks), &
             'neighbours')
  call check((values(4) == -1) .eqv. (coords(2) == 1), 'no neighbour')
  sent = [(10 * rank + i, i = 1, 4)]
  counts = 1
  places = [0, 4, 8, 12]
  types = MPI_INTEGER
  values = -1
  call MPI_Neighbor_alltoallw(sendbuf=sent, sendcounts=counts, sdispls=places, sendtypes=types, &
                              recvbuf=values, recvcounts=counts, rdispls=places, recvtypes=types, &
                              comm=grid)
  call check(values(1) == 10 * modulo(rank - 2, ranks) + 2, 'neighbour alltoallw')

  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [modulo(rank - 1, ranks)], &
                                      MPI_UNWEIGHTED, 1, [modulo(rank + 1, ranks)], &
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
  call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted)
  call check(indegree == 1 .and. outdegree == 1 .and. .not. weighted, 'ring')
  call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED)
  call check(sources(1) == modulo(rank - 1, ranks), 'source')
  call MPI_Comm_free(graph)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [2], [modulo(rank + 1, ranks), &
                             modulo(rank + 2, ranks)], [7, 9], MPI_INFO_NULL, .false., graph)
  call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted)
  call check(indegree == 2 .and. outdegree == 2 .and. weighted, 'weighted')
  call MPI_Dist_graph_neighbors(comm=graph, maxindegree=2, sources=sources, &
                                sourceweights=weights, maxoutdegree=2, destinations=destinations, &
                                destweights=weights)
  call check(sum(weights) == 16, 'weights')
  call MPI_Comm_free(graph)

  call MPI_Graph_create(MPI_COMM_WORLD, nnodes=3, index=[1, 3, 4], edges=[1, 0, 2, 1], &
                        reorder=.false., comm_graph=graph)
  call check((graph == MPI_COMM_NULL) .eqv. (rank > 2), 'graph')
  if (graph /= MPI_COMM_NULL) then
    call MPI_Graph_get(graph, 3, 4, indices, edges)
    call check(all(indices == [1, 3, 4]) .and. all(edges == [1, 0, 2, 1]), 'graph again')
    call MPI_Graph_neighbors_count(graph, rank, number)
    call check(number == merge(2, 1, rank == 1), 'graph neighbours')
    values = -1
    call MPI_Neighbor_alltoallw(sent, counts, places, types, values, counts, places, types, graph)
    if (rank == 1) call check(all(values(1:2) == [1, 21]), 'graph alltoallw')
  end if
  call MPI_Finalize()
  call finish('topology', rank)
end program
