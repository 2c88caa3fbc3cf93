// SPDX-License-Identifier: Apache-2.0
#include "topology.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;

Ints balanced(int nodes, Ints extents) {
  EXPECT_TRUE(balance(nodes, extents)) << nodes;
  return extents;
}

TEST(Topology, BalanceIsAsEqualAsCanBe) {
  EXPECT_EQ(balanced(6, {0, 0}), (Ints{3, 2}));
  EXPECT_EQ(balanced(7, {0, 0}), (Ints{7, 1}));
  EXPECT_EQ(balanced(6, {0, 3, 0}), (Ints{2, 3, 1}));
  EXPECT_EQ(balanced(16, {0, 0, 0}), (Ints{4, 2, 2}));
  EXPECT_EQ(balanced(48, {0, 0, 0}), (Ints{4, 4, 3}));
  EXPECT_EQ(balanced(72, {0, 0, 0}), (Ints{6, 4, 3}));
  EXPECT_EQ(balanced(5040, {0, 0, 0}), (Ints{21, 16, 15}));  // As close as 20 x 18 x 14.
  EXPECT_EQ(balanced(1, {0, 0, 0}), (Ints{1, 1, 1}));
  EXPECT_EQ(balanced(12, {12, 1}), (Ints{12, 1}));
  EXPECT_EQ(balanced(5040, {0, 0, 0}), (Ints{21, 16, 15}));  // Not 20, 18, 14.
  EXPECT_EQ(balanced(65536, {0, 0, 0}), (Ints{64, 32, 32}));
  EXPECT_EQ(balanced(7344, {0, 0, 0, 0}), (Ints{17, 9, 8, 6}));  // Not 17, 12, 6, 6.
  EXPECT_EQ(balanced(590520, {0, 0, 0, 0}), (Ints{38, 37, 21, 20}));
  EXPECT_EQ(balanced(735134400, {0, 0, 0, 0, 0, 0}).size(), 6U);
  EXPECT_EQ(balanced(2147483647, {0, 0}), (Ints{2147483647, 1}));
  Ints bad = {0, 4};
  EXPECT_FALSE(balance(6, bad));
  bad = {2, 2};
  EXPECT_FALSE(balance(6, bad));
  bad = {-1, 0};
  EXPECT_FALSE(balance(6, bad));
}

// The search against all factorisations into three.
TEST(Topology, BalanceIsBestOfAll) {
  for (int nodes = 1; nodes <= 400; ++nodes) {
    int least = nodes;
    for (int a = 1; a <= nodes; ++a) {
      for (int b = 1; b <= a && nodes % a == 0 && b <= nodes / a; ++b) {
        if (nodes / a % b != 0) continue;
        const int c = nodes / a / b;
        if (c <= b) least = std::min(least, a - c);
      }
    }
    const Ints found = balanced(nodes, {0, 0, 0});
    EXPECT_EQ(found[0] * found[1] * found[2], nodes);
    EXPECT_TRUE(found[0] >= found[1] && found[1] >= found[2]) << nodes;
    EXPECT_EQ(found[0] - found[2], least) << nodes;
  }
}

TEST(Topology, GridsKnowRanksAndCoordinates) {
  run_jobs(8, [](int rank) {
    const int extents[2] = {2, 3};
    const int periods[2] = {0, 1};
    MPI_Comm grid = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid), MPI_SUCCESS);
    ASSERT_EQ(grid == MPI_COMM_NULL, rank >= 6);
    if (rank >= 6) return;
    int kind = 0;
    MPI_Topo_test(grid, &kind);
    EXPECT_EQ(kind, MPI_CART);
    int d[2];
    int p[2];
    int c[2];
    MPI_Cart_get(grid, 2, d, p, c);
    EXPECT_EQ(c[0] * 3 + c[1], rank);
    EXPECT_EQ(p[0], 0);
    EXPECT_EQ(d[1], 3);
    const int outside[2] = {1, -4};
    int found = -1;
    MPI_Cart_rank(grid, outside, &found);
    EXPECT_EQ(found, 5);
    int from = 0;
    int to = 0;
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    EXPECT_EQ(from, rank < 3 ? MPI_PROC_NULL : rank - 3);
    EXPECT_EQ(to, rank < 3 ? rank + 3 : MPI_PROC_NULL);
    MPI_Cart_shift(grid, 1, -2, &from, &to);
    EXPECT_EQ(to, rank / 3 * 3 + (rank + 1) % 3);

    const int rows[2] = {0, 1};
    MPI_Comm row = MPI_COMM_NULL;
    MPI_Cart_sub(grid, rows, &row);
    EXPECT_EQ(rank_in(row), rank % 3);
    EXPECT_EQ(size_of_comm(row), 3);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
    EXPECT_EQ(sum, rank < 3 ? 3 : 12);
    const int none[2] = {0, 0};
    MPI_Comm alone = MPI_COMM_NULL;
    MPI_Cart_sub(grid, none, &alone);
    ASSERT_EQ(alone == MPI_COMM_NULL, rank > 0);
    int dimensions = -1;
    if (rank == 0) {
      EXPECT_EQ(size_of_comm(alone), 1);
      MPI_Cartdim_get(alone, &dimensions);
      EXPECT_EQ(dimensions, 0);
      MPI_Comm_free(&alone);
    }
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(grid, &copy);
    MPI_Cartdim_get(copy, &dimensions);
    EXPECT_EQ(dimensions, 2);
    for (MPI_Comm* comm : {&copy, &row, &grid}) MPI_Comm_free(comm);
  });
}

TEST(Topology, GridErrors) {
  Job job;
  run_job(job, [](int) {
    return_errors();
    MPI_Comm grid = MPI_COMM_WORLD;
    const int three = 3;
    const int zero = 0;
    const int two = 2;
    EXPECT_EQ(MPI_Cart_create(MPI_COMM_WORLD, 1, &three, &zero, 0, &grid), MPI_ERR_DIMS);
    EXPECT_EQ(grid, MPI_COMM_NULL);
    EXPECT_EQ(grid, MPI_COMM_NULL);
    EXPECT_EQ(MPI_Cart_create(MPI_COMM_WORLD, 1, &zero, &zero, 0, &grid), MPI_ERR_DIMS);
    EXPECT_EQ(MPI_Cart_create(MPI_COMM_WORLD, -1, &two, &zero, 0, &grid), MPI_ERR_DIMS);
    int n = 0;
    EXPECT_EQ(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
    EXPECT_EQ(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &n), MPI_ERR_TOPOLOGY);
    ASSERT_EQ(MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &zero, 0, &grid), MPI_SUCCESS);
    EXPECT_EQ(MPI_Cart_rank(grid, &two, &n), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Cart_coords(grid, 2, 1, &n), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Cart_shift(grid, 1, 1, &n, &n), MPI_ERR_DIMS);
    int dims[2] = {5, 0};
    EXPECT_EQ(MPI_Dims_create(12, 2, dims), MPI_ERR_DIMS);
    MPI_Comm_free(&grid);
  });
}

TEST(Topology, GraphsKnowTheirEdges) {
  run_jobs(5, [](int rank) {
    // The graph in the standard's example: 0-1, 0-3, 2-3.
    const int index[4] = {2, 3, 4, 6};
    const int edges[6] = {1, 3, 0, 3, 0, 2};
    MPI_Comm graph = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 1, &graph), MPI_SUCCESS);
    ASSERT_EQ(graph == MPI_COMM_NULL, rank == 4);
    if (rank == 4) return;
    int nodes = 0;
    int count = 0;
    MPI_Graphdims_get(graph, &nodes, &count);
    EXPECT_EQ(nodes, 4);
    EXPECT_EQ(count, 6);
    int neighbours[2];
    MPI_Graph_neighbors_count(graph, 3, &count);
    EXPECT_EQ(count, 2);
    MPI_Graph_neighbors(graph, 3, 2, neighbours);
    EXPECT_EQ(neighbours[0], 0);
    EXPECT_EQ(neighbours[1], 2);
    Ints i(4);
    Ints e(6);
    MPI_Graph_get(graph, 4, 6, i.data(), e.data());
    EXPECT_TRUE(std::equal(i.begin(), i.end(), index));
    EXPECT_TRUE(std::equal(e.begin(), e.end(), edges));
    MPI_Comm_free(&graph);
  });
}

// Every rank specifies edges of its right neighbour: to all higher ranks, weighted by the distance.
TEST(Topology, EdgesNamedAnywhereComeToTheirEnds) {
  for (const int size : {1, 2, 6}) {
    run_jobs(static_cast<std::uint32_t>(size), [&](int rank) {
      const int named = (rank + 1) % size;
      Ints targets;
      Ints weights;
      for (int i = named; i < size; ++i) {
        targets.push_back(i);
        weights.push_back(i - named);
      }
      const int degree = static_cast<int>(targets.size());
      MPI_Comm graph = MPI_COMM_NULL;
      ASSERT_EQ(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &named, &degree, targets.data(),
                                      weights.data(), MPI_INFO_NULL, 0, &graph),
                MPI_SUCCESS);
      int in = 0;
      int out = 0;
      int weighted = 0;
      MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
      ASSERT_EQ(in, rank + 1);
      ASSERT_EQ(out, size - rank);
      EXPECT_EQ(weighted, 1);
      Ints sources(static_cast<std::size_t>(in));
      Ints from(static_cast<std::size_t>(in));
      Ints destinations(static_cast<std::size_t>(out));
      Ints to(static_cast<std::size_t>(out));
      MPI_Dist_graph_neighbors(graph, in, sources.data(), from.data(), out, destinations.data(),
                               to.data());
      for (int i = 0; i < in; ++i) {
        EXPECT_EQ(sources[static_cast<std::size_t>(i)], i);
        EXPECT_EQ(from[static_cast<std::size_t>(i)], rank - i);
      }
      for (int i = 0; i < out; ++i) EXPECT_EQ(to[static_cast<std::size_t>(i)], i);
      MPI_Comm_free(&graph);
    });
  }
}

}  // namespace
}  // namespace weft::mpi
