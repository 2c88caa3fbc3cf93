// SPDX-License-Identifier: Apache-2.0
// Neighbourhood collectives.
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/coll_test_data.hpp>
#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;

MPI_Comm make_grid(const Ints& extents, const Ints& periods) {
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(extents.size()), extents.data(), periods.data(),
                  0, &grid);
  return grid;
}

// The neighbours in the standard's order: for each dimension the lower, then the upper one.
Ints neighbours_of(MPI_Comm grid, int dimensions) {
  Ints result;
  for (int i = 0; i < dimensions; ++i) {
    int before = 0;
    int behind = 0;
    MPI_Cart_shift(grid, i, 1, &before, &behind);
    result.push_back(before);
    result.push_back(behind);
  }
  return result;
}

// In a ring of two, both neighbours are the same rank: what is sent to the lower one must arrive
// from the upper one.
TEST(Neighbour, GridsExchangeAlongEachDirection) {
  for (const Ints& extents : {Ints{2, 2}, Ints{4, 1}, Ints{3, 2}, Ints{1, 5}}) {
    for (const Ints& periods : {Ints{1, 1}, Ints{0, 1}, Ints{0, 0}}) {
      run_jobs(static_cast<std::uint32_t>(extents[0] * extents[1]), [&](int rank) {
        MPI_Comm grid = make_grid(extents, periods);
        const Ints around = neighbours_of(grid, 2);
        for (const bool gaps : {false, true}) {
          const TestType type(gaps);
          Ints send = type.buffer(4);
          Ints expected = type.buffer(4);
          Ints gathered = type.buffer(4);
          for (int i = 0; i < 4; ++i) {
            type.fill(send, i, 1, rank, i);
            const int peer = around[static_cast<std::size_t>(i)];
            if (peer == MPI_PROC_NULL) continue;
            type.fill(expected, i, 1, peer, i ^ 1);
            type.fill(gathered, i, 1, peer, 0);
          }
          Ints receive = type.buffer(4);
          EXPECT_EQ(MPI_Neighbor_alltoall(send.data(), 1, type.get(), receive.data(), 1, type.get(),
                                          grid),
                    MPI_SUCCESS);
          EXPECT_EQ(receive, expected);
          receive = type.buffer(4);
          MPI_Request request = MPI_REQUEST_NULL;
          MPI_Ineighbor_allgather(send.data(), 1, type.get(), receive.data(), 1, type.get(), grid,
                                  &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          EXPECT_EQ(receive, gathered);
        }
        MPI_Comm_free(&grid);
      });
    }
  }
}

// Rank r sends to all ranks above it, r + 1 elements each, twice to the last.
TEST(Neighbour, GraphsExchangeAlongTheirEdges) {
  run_jobs(4, [](int rank) {
    constexpr int size = 4;
    Ints sources;
    Ints destinations;
    for (int i = 0; i < rank; ++i) sources.push_back(i);
    for (int i = rank + 1; i < size; ++i) destinations.push_back(i);
    if (rank == size - 1) {
      for (int i = 0; i < rank; ++i) sources.push_back(i);
    } else {
      destinations.push_back(size - 1);
    }
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                   MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                   destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    Ints out_counts;
    Ints out_places;
    Ints send;
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      out_counts.push_back(rank + 1);
      out_places.push_back(static_cast<int>(send.size()));
      send.insert(send.end(), static_cast<std::size_t>(rank + 1),
                  number(rank, destinations[i], static_cast<int>(i)));
    }
    Ints in_counts;
    Ints in_places;
    Ints expected;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const int from = sources[i];
      // The second edge to the last rank is the last that its source has.
      const int slot = i >= static_cast<std::size_t>(rank) ? size - 1 - from : rank - from - 1;
      in_counts.push_back(from + 1);
      in_places.push_back(static_cast<int>(expected.size()));
      expected.insert(expected.end(), static_cast<std::size_t>(from + 1), number(from, rank, slot));
    }
    Ints receive(expected.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Neighbor_alltoallv_init(send.data(), out_counts.data(), out_places.data(), MPI_INT,
                                receive.data(), in_counts.data(), in_places.data(), MPI_INT, graph,
                                MPI_INFO_NULL, &request);
    for (int turn = 0; turn < 2; ++turn) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(receive, expected);
      receive.assign(receive.size(), untouched);
    }
    MPI_Request_free(&request);

    std::vector<MPI_Aint> out_bytes;
    std::vector<MPI_Aint> in_bytes;
    for (const int place : out_places) out_bytes.push_back(place * 4);
    for (const int place : in_places) in_bytes.push_back(place * 4);
    const std::vector<MPI_Datatype> types(8, MPI_INT);
    EXPECT_EQ(MPI_Neighbor_alltoallw(send.data(), out_counts.data(), out_bytes.data(), types.data(),
                                     receive.data(), in_counts.data(), in_bytes.data(),
                                     types.data(), graph),
              MPI_SUCCESS);
    EXPECT_EQ(receive, expected);
    MPI_Comm_free(&graph);
  });
}

TEST(Neighbour, WithoutTopologyThereIsAnError) {
  Job job;
  run_job(job, [](int) {
    return_errors();
    int a = 0;
    int b = 0;
    EXPECT_EQ(MPI_Neighbor_alltoall(&a, 1, MPI_INT, &b, 1, MPI_INT, MPI_COMM_WORLD),
              MPI_ERR_TOPOLOGY);
  });
}

}  // namespace
}  // namespace weft::mpi
