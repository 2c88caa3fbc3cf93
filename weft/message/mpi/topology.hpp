// SPDX-License-Identifier: Apache-2.0
// The communication pattern of a communicator's members: a grid or a graph. Immutable; duplicates
// of the communicator share it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <weft/message/coll/team.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// The last dimension is the fastest, as the standard requires.
class Cartesian {
 public:
  Cartesian(std::span<const int> extents, std::vector<bool> periodic);

  int dimensions() const { return static_cast<int>(grid_.extents.size()); }
  int extent(int dimension) const { return grid_.extents[static_cast<std::size_t>(dimension)]; }
  bool periodic(int dimension) const { return periodic_[static_cast<std::size_t>(dimension)]; }
  int size() const;
  const coll::Grid& grid() const { return grid_; }

  std::vector<int> coordinates(int rank) const;
  // Coordinates of periodic dimensions wrap; others must lie inside, or there is no rank.
  std::optional<int> rank(std::span<const int> coordinates) const;
  // The rank at a distance; MPI_PROC_NULL beyond the end of a dimension.
  int shifted(int rank, int dimension, int distance) const;

 private:
  coll::Grid grid_;
  std::vector<bool> periodic_;
};

// A graph that every member knows: the neighbours of rank i are edges [index[i - 1], index[i]).
struct Graph {
  std::vector<int> index;
  std::vector<int> edges;

  std::span<const int> neighbours(int rank) const;
};

// A graph of which each member knows only its own edges.
struct LocalGraph {
  std::vector<int> sources, destinations;
  std::vector<int> source_weights, destination_weights;  // Empty unless weighted.
  bool weighted = false;
};

struct Topology {
  std::variant<Cartesian, Graph, LocalGraph> shape;

  const Cartesian* cartesian() const { return std::get_if<Cartesian>(&shape); }
  const Graph* graph() const { return std::get_if<Graph>(&shape); }
  const LocalGraph* local_graph() const { return std::get_if<LocalGraph>(&shape); }
  const coll::Grid* grid() const {
    return cartesian() && cartesian()->dimensions() > 0 ? &cartesian()->grid() : nullptr;
  }

  // The ranks from which a rank receives and to which it sends in neighbourhood collectives;
  // MPI_PROC_NULL may be among them. In a grid: for each dimension the lower, then the upper
  // neighbour.
  std::vector<int> sources(int rank) const;
  std::vector<int> destinations(int rank) const;
};

// Fills the free (zero) entries so that the product of all is `nodes`, as equal as possible and
// descending. Returns false if that is impossible.
bool balance(int nodes, std::span<int> extents);

}  // namespace weft::mpi
