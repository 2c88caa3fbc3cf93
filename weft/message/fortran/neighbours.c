/* SPDX-License-Identifier: Apache-2.0 */
/* How many neighbours a rank has in the topology of its communicator: the length of arrays. */
#include "fortran.h"

static void count_neighbours(MPI_Comm comm, int* sources, int* destinations) {
  int kind = MPI_UNDEFINED, rank = 0, weighted = 0;
  *sources = *destinations = 0;
  if (PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return;
  if (kind == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, sources, destinations, &weighted);
    return;
  }
  if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, sources);
    *sources *= 2;
  } else if (kind == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, sources);
  }
  *destinations = *sources;
}

int weft_fortran_sources(MPI_Comm comm) {
  int sources, destinations;
  count_neighbours(comm, &sources, &destinations);
  return sources;
}

int weft_fortran_destinations(MPI_Comm comm) {
  int sources, destinations;
  count_neighbours(comm, &sources, &destinations);
  return destinations;
}
