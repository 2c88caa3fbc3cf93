// SPDX-License-Identifier: Apache-2.0
// Graph topologies: known to all ranks, or to each rank as far as its own edges go.
#include <algorithm>
#include <memory>
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/topology.hpp>
#include <weft/message/mpi/topology_call.hpp>

using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Edge;
using weft::mpi::Graph;
using weft::mpi::LocalGraph;
using weft::mpi::Topology;

namespace {

int check_graph(Call& call, const Communicator& comm, int nodes, const int* index,
                const int* edges) {
  if (comm.inter) return call.result(&comm, MPI_ERR_COMM, "an intercommunicator");
  if (nodes < 0 || nodes > comm.size()) {
    return call.result(
        &comm, MPI_ERR_ARG,
        std::to_string(nodes) + " nodes for " + std::to_string(comm.size()) + " ranks");
  }
  if (nodes == 0) return MPI_SUCCESS;
  if (!index) return call.result(&comm, MPI_ERR_ARG, "index is null");
  int last = 0;
  for (int i = 0; i < nodes; ++i) {
    if (index[i] < last) return call.result(&comm, MPI_ERR_ARG, "index falls");
    last = index[i];
  }
  if (last > 0 && !edges) return call.result(&comm, MPI_ERR_ARG, "edges is null");
  for (int i = 0; i < last; ++i) {
    if (edges[i] < 0 || edges[i] >= nodes) {
      return call.result(&comm, MPI_ERR_ARG, "an edge to " + std::to_string(edges[i]));
    }
  }
  return MPI_SUCCESS;
}

// Returns null if an error has been reported.
const Graph* find_graph(Call& call, MPI_Comm handle, Communicator*& comm, int& error) {
  comm = call.communicator(handle);
  error = call.error();
  if (!comm) return nullptr;
  const Graph* graph = comm->topology ? comm->topology->graph() : nullptr;
  if (!graph) error = call.result(comm, MPI_ERR_TOPOLOGY, "the communicator has no graph");
  return graph;
}

const LocalGraph* find_local(Call& call, MPI_Comm handle, Communicator*& comm, int& error) {
  comm = call.communicator(handle);
  error = call.error();
  if (!comm) return nullptr;
  const LocalGraph* graph = comm->topology ? comm->topology->local_graph() : nullptr;
  if (!graph) error = call.result(comm, MPI_ERR_TOPOLOGY, "no distributed graph");
  return graph;
}

// One side of a rank's edges, as the program gave it.
struct Neighbours {
  int count;
  const int* ranks;
  const int* weights;
  bool weighted() const { return weights != MPI_UNWEIGHTED; }
};

int check_weights(Call& call, const Communicator& comm, const int* weights, int count) {
  if (weights == MPI_UNWEIGHTED || count == 0) return MPI_SUCCESS;
  if (!weights || weights == MPI_WEIGHTS_EMPTY) {
    return call.result(&comm, MPI_ERR_ARG, "edges without weights");
  }
  for (int i = 0; i < count; ++i) {
    if (weights[i] < 0) return call.result(&comm, MPI_ERR_ARG, "a weight below zero");
  }
  return MPI_SUCCESS;
}

int check_ranks(Call& call, const Communicator& comm, const int* ranks, int count) {
  if (count < 0) return call.result(&comm, MPI_ERR_ARG, std::to_string(count) + " edges");
  if (count > 0 && !ranks) return call.result(&comm, MPI_ERR_ARG, "ranks are null");
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0 || ranks[i] >= comm.size()) {
      return call.result(&comm, MPI_ERR_RANK, std::to_string(ranks[i]));
    }
  }
  return MPI_SUCCESS;
}

int check(Call& call, const Communicator& comm, const Neighbours& given) {
  if (const int error = check_ranks(call, comm, given.ranks, given.count)) return error;
  return check_weights(call, comm, given.weights, given.count);
}

std::vector<int> list(const int* values, int count) {
  return count > 0 ? std::vector<int>(values, values + count) : std::vector<int>();
}

int make(Call& call, Communicator& parent, LocalGraph graph, MPI_Comm* made) {
  return call.result(&parent,
                     make_with(call.process(), parent, parent.local,
                               std::make_shared<const Topology>(Topology{std::move(graph)}), made));
}

int check_info(Call& call, const Communicator& comm, MPI_Info info) {
  if (info == MPI_INFO_NULL || find_info(call.process(), info)) return MPI_SUCCESS;
  return call.result(&comm, MPI_ERR_INFO);
}

// Copies as many as there is room for.
void give(const std::vector<int>& values, int room, int* out) {
  std::copy_n(values.begin(), std::min(values.size(), static_cast<std::size_t>(room)), out);
}

}  // namespace

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)
WEFT_MPI(Graph_create)
(MPI_Comm comm_old, int nnodes, const int* indx, const int* edges, int /*reorder*/,
 MPI_Comm* comm_graph) {
  Call call("MPI_Graph_create", Call::communicates);
  Communicator* parent = call.communicator(comm_old);
  if (!parent) return call.error();
  if (!comm_graph) return call.result(parent, MPI_ERR_ARG);
  *comm_graph = MPI_COMM_NULL;
  if (const int error = check_graph(call, *parent, nnodes, indx, edges)) return error;
  if (nnodes == 0) return MPI_SUCCESS;
  Graph graph{list(indx, nnodes), list(edges, indx[nnodes - 1])};
  return call.result(
      parent, weft::mpi::make_first(call.process(), *parent, nnodes,
                                    std::make_shared<const Topology>(Topology{std::move(graph)}),
                                    comm_graph));
}

WEFT_MPI(Graph_map)
(MPI_Comm comm, int nnodes, const int* indx, const int* edges, int* newrank) {
  Call call("MPI_Graph_map", Call::communicates);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (nnodes == 0) return call.result(c, MPI_ERR_ARG, "no nodes");
  if (const int error = check_graph(call, *c, nnodes, indx, edges)) return error;
  if (!newrank) return call.result(c, MPI_ERR_ARG);
  *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

WEFT_MPI(Graphdims_get)(MPI_Comm comm, int* nnodes, int* nedges) {
  Call call("MPI_Graphdims_get", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Graph* graph = find_graph(call, comm, c, error);
  if (!graph) return error;
  if (!nnodes || !nedges) return call.result(c, MPI_ERR_ARG);
  *nnodes = static_cast<int>(graph->index.size());
  *nedges = static_cast<int>(graph->edges.size());
  return MPI_SUCCESS;
}

WEFT_MPI(Graph_get)(MPI_Comm comm, int maxindex, int maxedges, int* indx, int* edges) {
  Call call("MPI_Graph_get", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Graph* graph = find_graph(call, comm, c, error);
  if (!graph) return error;
  if (maxindex < 0 || maxedges < 0) return call.result(c, MPI_ERR_ARG);
  if ((maxindex > 0 && !indx) || (maxedges > 0 && !edges)) return call.result(c, MPI_ERR_ARG);
  give(graph->index, maxindex, indx);
  give(graph->edges, maxedges, edges);
  return MPI_SUCCESS;
}

WEFT_MPI(Graph_neighbors_count)(MPI_Comm comm, int rank, int* nneighbors) {
  Call call("MPI_Graph_neighbors_count", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Graph* graph = find_graph(call, comm, c, error);
  if (!graph) return error;
  if (rank < 0 || rank >= c->size()) return call.result(c, MPI_ERR_RANK, std::to_string(rank));
  if (!nneighbors) return call.result(c, MPI_ERR_ARG);
  *nneighbors = static_cast<int>(graph->neighbours(rank).size());
  return MPI_SUCCESS;
}

WEFT_MPI(Graph_neighbors)(MPI_Comm comm, int rank, int maxneighbors, int* neighbors) {
  Call call("MPI_Graph_neighbors", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Graph* graph = find_graph(call, comm, c, error);
  if (!graph) return error;
  if (rank < 0 || rank >= c->size()) return call.result(c, MPI_ERR_RANK, std::to_string(rank));
  if (maxneighbors < 0 || (maxneighbors > 0 && !neighbors)) return call.result(c, MPI_ERR_ARG);
  const auto found = graph->neighbours(rank);
  give({found.begin(), found.end()}, maxneighbors, neighbors);
  return MPI_SUCCESS;
}

WEFT_MPI(Dist_graph_create_adjacent)
(MPI_Comm comm_old, int indegree, const int* sources, const int* sourceweights, int outdegree,
 const int* destinations, const int* destweights, MPI_Info info, int /*reorder*/,
 MPI_Comm* comm_dist_graph) {
  Call call("MPI_Dist_graph_create_adjacent", Call::communicates);
  Communicator* parent = call.communicator(comm_old);
  if (!parent) return call.error();
  if (!comm_dist_graph) return call.result(parent, MPI_ERR_ARG);
  *comm_dist_graph = MPI_COMM_NULL;
  if (parent->inter) return call.result(parent, MPI_ERR_COMM, "an intercommunicator");
  const Neighbours in{indegree, sources, sourceweights};
  const Neighbours out{outdegree, destinations, destweights};
  if (const int error = check(call, *parent, in)) return error;
  if (const int error = check(call, *parent, out)) return error;
  if (in.weighted() != out.weighted()) {
    return call.result(parent, MPI_ERR_ARG, "weights for one direction only");
  }
  if (const int error = check_info(call, *parent, info)) return error;
  LocalGraph graph;
  graph.sources = list(sources, indegree);
  graph.destinations = list(destinations, outdegree);
  graph.weighted = in.weighted();
  if (graph.weighted) {
    graph.source_weights = list(sourceweights, indegree);
    graph.destination_weights = list(destweights, outdegree);
  }
  return make(call, *parent, std::move(graph), comm_dist_graph);
}

WEFT_MPI(Dist_graph_create)
(MPI_Comm comm_old, int n, const int* sources, const int* degrees, const int* destinations,
 const int* weights, MPI_Info info, int /*reorder*/, MPI_Comm* comm_dist_graph) {
  Call call("MPI_Dist_graph_create", Call::communicates);
  Communicator* parent = call.communicator(comm_old);
  if (!parent) return call.error();
  if (!comm_dist_graph) return call.result(parent, MPI_ERR_ARG);
  *comm_dist_graph = MPI_COMM_NULL;
  if (parent->inter) return call.result(parent, MPI_ERR_COMM, "an intercommunicator");
  if (const int error = check_ranks(call, *parent, sources, n)) return error;
  if (n > 0 && !degrees) return call.result(parent, MPI_ERR_ARG, "degrees are null");
  int count = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) return call.result(parent, MPI_ERR_ARG, "a degree below zero");
    count += degrees[i];
  }
  if (const int error = check(call, *parent, {count, destinations, weights})) return error;
  if (const int error = check_info(call, *parent, info)) return error;
  const bool weighted = weights != MPI_UNWEIGHTED;
  std::vector<Edge> edges;
  for (int i = 0, k = 0; i < n; ++i) {
    for (int j = 0; j < degrees[i]; ++j, ++k) {
      edges.push_back({sources[i], destinations[k], weighted ? weights[k] : 1});
    }
  }
  LocalGraph graph = spread_edges(call.process(), *parent, edges);
  graph.weighted = weighted;
  return make(call, *parent, std::move(graph), comm_dist_graph);
}

WEFT_MPI(Dist_graph_neighbors_count)
(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  Call call("MPI_Dist_graph_neighbors_count", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const LocalGraph* graph = find_local(call, comm, c, error);
  if (!graph) return error;
  if (!indegree || !outdegree || !weighted) return call.result(c, MPI_ERR_ARG);
  *indegree = static_cast<int>(graph->sources.size());
  *outdegree = static_cast<int>(graph->destinations.size());
  *weighted = graph->weighted ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Dist_graph_neighbors)
(MPI_Comm comm, int maxindegree, int* sources, int* sourceweights, int maxoutdegree,
 int* destinations, int* destweights) {
  Call call("MPI_Dist_graph_neighbors", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const LocalGraph* graph = find_local(call, comm, c, error);
  if (!graph) return error;
  if (maxindegree < 0 || maxoutdegree < 0) return call.result(c, MPI_ERR_ARG);
  if ((maxindegree > 0 && !sources) || (maxoutdegree > 0 && !destinations)) {
    return call.result(c, MPI_ERR_ARG);
  }
  give(graph->sources, maxindegree, sources);
  give(graph->destinations, maxoutdegree, destinations);
  if (!graph->weighted) return MPI_SUCCESS;
  const auto wanted = [](const int* out) {
    return out && out != MPI_UNWEIGHTED && out != MPI_WEIGHTS_EMPTY;
  };
  if (wanted(sourceweights)) give(graph->source_weights, maxindegree, sourceweights);
  if (wanted(destweights)) give(graph->destination_weights, maxoutdegree, destweights);
  return MPI_SUCCESS;
}
// NOLINTEND(readability-function-size)
