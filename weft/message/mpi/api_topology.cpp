// SPDX-License-Identifier: Apache-2.0
// Cartesian topologies.
#include <algorithm>
#include <memory>
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/topology.hpp>
#include <weft/message/mpi/topology_call.hpp>

using weft::mpi::Call;
using weft::mpi::Cartesian;
using weft::mpi::Communicator;
using weft::mpi::Topology;

namespace {

// Checks the extents of a new grid and computes its number of ranks.
int check_extents(Call& call, const Communicator& comm, int count, const int* extents, int& size) {
  if (comm.inter) return call.result(&comm, MPI_ERR_COMM, "an intercommunicator");
  if (count < 0) return call.result(&comm, MPI_ERR_DIMS, std::to_string(count) + " dimensions");
  if (count > 0 && !extents) return call.result(&comm, MPI_ERR_ARG, "dims is null");
  std::int64_t product = 1;
  for (int i = 0; i < count; ++i) {
    if (extents[i] <= 0) return call.result(&comm, MPI_ERR_DIMS, std::to_string(extents[i]));
    product *= extents[i];
    if (product > comm.size()) {
      return call.result(&comm, MPI_ERR_DIMS,
                         "more places than the " + std::to_string(comm.size()) + " ranks");
    }
  }
  size = static_cast<int>(product);
  return MPI_SUCCESS;
}

// The grid of a communicator; null if an error has been reported.
const Cartesian* find_grid(Call& call, MPI_Comm handle, Communicator*& comm, int& error) {
  comm = call.communicator(handle);
  error = call.error();
  if (!comm) return nullptr;
  const Cartesian* grid = comm->topology ? comm->topology->cartesian() : nullptr;
  if (!grid) error = call.result(comm, MPI_ERR_TOPOLOGY, "the communicator has no grid");
  return grid;
}

std::vector<bool> flags(const int* given, int count) {
  std::vector<bool> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = given[i] != 0;
  return result;
}

// The ranks with the same coordinates in all dimensions that are dropped.
std::vector<weft::RankId> part_of(const Communicator& comm, const Cartesian& grid,
                                  const Cartesian& part, const std::vector<bool>& kept) {
  std::vector<int> place = grid.coordinates(comm.rank);
  std::vector<weft::RankId> result;
  for (int i = 0; i < part.size(); ++i) {
    const std::vector<int> inside = part.coordinates(i);
    std::size_t next = 0;
    for (std::size_t d = 0; d < place.size(); ++d) {
      if (kept[d]) place[d] = inside[next++];
    }
    result.push_back(comm.local[*grid.rank(place)]);
  }
  return result;
}

}  // namespace

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)
WEFT_MPI(Topo_test)(MPI_Comm comm, int* status) {
  Call call("MPI_Topo_test", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!status) return call.result(c, MPI_ERR_ARG);
  *status = MPI_UNDEFINED;
  if (!c->topology) return MPI_SUCCESS;
  *status = c->topology->cartesian() ? MPI_CART : c->topology->graph() ? MPI_GRAPH : MPI_DIST_GRAPH;
  return MPI_SUCCESS;
}

WEFT_MPI(Dims_create)(int nnodes, int ndims, int* dims) {
  Call call("MPI_Dims_create", Call::local);
  if (call.error() != MPI_SUCCESS) return call.error();
  if (nnodes < 1) return call.result(MPI_ERR_ARG, std::to_string(nnodes) + " nodes");
  if (ndims < 0) return call.result(MPI_ERR_DIMS, std::to_string(ndims) + " dimensions");
  if (ndims == 0) return MPI_SUCCESS;
  if (!dims) return call.result(MPI_ERR_ARG, "dims is null");
  if (!weft::mpi::balance(nnodes, {dims, static_cast<std::size_t>(ndims)})) {
    return call.result(MPI_ERR_DIMS, "the given entries do not divide " + std::to_string(nnodes));
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Cart_create)
(MPI_Comm comm_old, int ndims, const int* dims, const int* periods, int /*reorder*/,
 MPI_Comm* comm_cart) {
  Call call("MPI_Cart_create", Call::communicates);
  Communicator* parent = call.communicator(comm_old);
  if (!parent) return call.error();
  if (!comm_cart) return call.result(parent, MPI_ERR_ARG);
  *comm_cart = MPI_COMM_NULL;
  int size = 0;
  if (const int error = check_extents(call, *parent, ndims, dims, size)) return error;
  if (ndims > 0 && !periods) return call.result(parent, MPI_ERR_ARG);
  auto topology = std::make_shared<const Topology>(
      Topology{Cartesian({dims, static_cast<std::size_t>(ndims)}, flags(periods, ndims))});
  return call.result(
      parent, weft::mpi::make_first(call.process(), *parent, size, std::move(topology), comm_cart));
}

WEFT_MPI(Cart_sub)(MPI_Comm comm, const int* remain_dims, MPI_Comm* newcomm) {
  Call call("MPI_Cart_sub", Call::communicates);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Cartesian* grid = find_grid(call, comm, c, error);
  if (!grid) return error;
  if (!newcomm || (grid->dimensions() > 0 && !remain_dims)) return call.result(c, MPI_ERR_ARG);
  const std::vector<bool> kept = flags(remain_dims, grid->dimensions());
  std::vector<int> extents;
  std::vector<bool> periodic;
  for (int i = 0; i < grid->dimensions(); ++i) {
    if (!kept[static_cast<std::size_t>(i)]) continue;
    extents.push_back(grid->extent(i));
    periodic.push_back(grid->periodic(i));
  }
  Cartesian part(extents, std::move(periodic));
  if (extents.empty()) {
    // A grid without dimensions has one rank, the first, as MPI_Cart_create defines it.
    return call.result(
        c, weft::mpi::make_first(call.process(), *c, 1,
                                 std::make_shared<const Topology>(Topology{std::move(part)}),
                                 newcomm));
  }
  const std::vector<weft::RankId> ranks = part_of(*c, *grid, part, kept);
  return call.result(c, weft::mpi::make_with(
                            call.process(), *c, weft::mp::Members::of(ranks),
                            std::make_shared<const Topology>(Topology{std::move(part)}), newcomm));
}

WEFT_MPI(Cart_map)
(MPI_Comm comm, int ndims, const int* dims, const int* periods, int* newrank) {
  Call call("MPI_Cart_map", Call::communicates);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  int size = 0;
  if (const int error = check_extents(call, *c, ndims, dims, size)) return error;
  if (!newrank || (ndims > 0 && !periods)) return call.result(c, MPI_ERR_ARG);
  *newrank = c->rank < size ? c->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

WEFT_MPI(Cartdim_get)(MPI_Comm comm, int* ndims) {
  Call call("MPI_Cartdim_get", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Cartesian* grid = find_grid(call, comm, c, error);
  if (!grid) return error;
  if (!ndims) return call.result(c, MPI_ERR_ARG);
  *ndims = grid->dimensions();
  return MPI_SUCCESS;
}

WEFT_MPI(Cart_get)(MPI_Comm comm, int maxdims, int* dims, int* periods, int* coords) {
  Call call("MPI_Cart_get", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Cartesian* grid = find_grid(call, comm, c, error);
  if (!grid) return error;
  const int count = grid->dimensions();
  if (maxdims < count) return call.result(c, MPI_ERR_ARG, "room for too few dimensions");
  if (count > 0 && (!dims || !periods || !coords)) return call.result(c, MPI_ERR_ARG);
  const std::vector<int> place = grid->coordinates(c->rank);
  for (int i = 0; i < count; ++i) {
    dims[i] = grid->extent(i);
    periods[i] = grid->periodic(i) ? 1 : 0;
    coords[i] = place[static_cast<std::size_t>(i)];
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Cart_rank)(MPI_Comm comm, const int* coords, int* rank) {
  Call call("MPI_Cart_rank", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Cartesian* grid = find_grid(call, comm, c, error);
  if (!grid) return error;
  if (!rank || (grid->dimensions() > 0 && !coords)) return call.result(c, MPI_ERR_ARG);
  const auto found = grid->rank({coords, static_cast<std::size_t>(grid->dimensions())});
  if (!found) return call.result(c, MPI_ERR_ARG, "coordinates outside of the grid");
  *rank = *found;
  return MPI_SUCCESS;
}

WEFT_MPI(Cart_coords)(MPI_Comm comm, int rank, int maxdims, int* coords) {
  Call call("MPI_Cart_coords", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Cartesian* grid = find_grid(call, comm, c, error);
  if (!grid) return error;
  if (rank < 0 || rank >= c->size()) return call.result(c, MPI_ERR_RANK, std::to_string(rank));
  if (maxdims < grid->dimensions()) return call.result(c, MPI_ERR_ARG, "room for too few");
  if (grid->dimensions() > 0 && !coords) return call.result(c, MPI_ERR_ARG);
  const std::vector<int> place = grid->coordinates(rank);
  std::copy(place.begin(), place.end(), coords);
  return MPI_SUCCESS;
}

WEFT_MPI(Cart_shift)
(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  Call call("MPI_Cart_shift", Call::local);
  Communicator* c = nullptr;
  int error = MPI_SUCCESS;
  const Cartesian* grid = find_grid(call, comm, c, error);
  if (!grid) return error;
  if (direction < 0 || direction >= grid->dimensions()) {
    return call.result(c, MPI_ERR_DIMS, "direction " + std::to_string(direction));
  }
  if (!rank_source || !rank_dest) return call.result(c, MPI_ERR_ARG);
  *rank_source = grid->shifted(c->rank, direction, -disp);
  *rank_dest = grid->shifted(c->rank, direction, disp);
  return MPI_SUCCESS;
}
// NOLINTEND(readability-function-size)
