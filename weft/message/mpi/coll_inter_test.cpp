// SPDX-License-Identifier: Apache-2.0
// Collectives on an intercommunicator: each group receives what the other contributes.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/coll_test_data.hpp>
#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;

// Ranks 0 and 1 on the left, the other three on the right.
struct Sides {
  MPI_Comm inter = MPI_COMM_NULL;
  bool left = false;
  int rank = 0, size = 0, others = 0;
};

void run_sides(const std::function<void(const Sides&)>& body) {
  run_jobs(5, [&](int rank) {
    Sides sides;
    sides.left = rank < 2;
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, sides.left ? 0 : 1, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, sides.left ? 2 : 0, 5, &sides.inter);
    MPI_Comm_rank(sides.inter, &sides.rank);
    MPI_Comm_size(sides.inter, &sides.size);
    MPI_Comm_remote_size(sides.inter, &sides.others);
    body(sides);
    MPI_Comm_free(&sides.inter);
    MPI_Comm_free(&group);
  });
}

// A number for each rank of either side.
int speaker(bool left, int rank) {
  return left ? rank : 10 + rank;
}

TEST(InterCollective, RootedOnesServeTheOtherGroup) {
  run_sides([](const Sides& s) {
    // Rank 1 of the left is the root.
    const int root = !s.left ? 1 : s.rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    const TestType type(true);
    Ints expected = type.buffer(20);
    type.fill(expected, 0, 20, 1, 0);
    Ints data = root == MPI_ROOT ? expected : type.buffer(20);
    EXPECT_EQ(MPI_Bcast(data.data(), 20, type.get(), root, s.inter), MPI_SUCCESS);
    EXPECT_EQ(data, s.left && root != MPI_ROOT ? type.buffer(20) : expected);

    const int mine[2] = {speaker(s.left, s.rank), 1};
    Ints all(6, untouched);
    EXPECT_EQ(MPI_Gather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, root, s.inter), MPI_SUCCESS);
    if (root == MPI_ROOT) {
      EXPECT_EQ(all, (Ints{10, 1, 11, 1, 12, 1}));
    }
    int back[2] = {untouched, untouched};
    EXPECT_EQ(MPI_Scatter(all.data(), 2, MPI_INT, back, 2, MPI_INT, root, s.inter), MPI_SUCCESS);
    EXPECT_EQ(back[0], s.left ? untouched : mine[0]);

    int sum[2] = {untouched, untouched};
    EXPECT_EQ(MPI_Reduce(mine, sum, 2, MPI_INT, MPI_SUM, root, s.inter), MPI_SUCCESS);
    EXPECT_EQ(sum[0], root == MPI_ROOT ? 33 : untouched);
    EXPECT_EQ(sum[1], root == MPI_ROOT ? 3 : untouched);
  });
}

TEST(InterCollective, SymmetricOnesCross) {
  run_sides([](const Sides& s) {
    EXPECT_EQ(MPI_Barrier(s.inter), MPI_SUCCESS);
    const int mine = speaker(s.left, s.rank);
    const auto others = static_cast<std::size_t>(s.others);
    Ints theirs(others);
    Ints expected(others);
    std::iota(expected.begin(), expected.end(), speaker(!s.left, 0));
    EXPECT_EQ(MPI_Allgather(&mine, 1, MPI_INT, theirs.data(), 1, MPI_INT, s.inter), MPI_SUCCESS);
    EXPECT_EQ(theirs, expected);

    int sum = 0;
    EXPECT_EQ(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, s.inter), MPI_SUCCESS);
    EXPECT_EQ(sum, s.left ? 33 : 1);

    Ints out;
    Ints crossed;
    for (int i = 0; i < s.others; ++i) {
      out.push_back(number(mine, i, 0));
      crossed.push_back(number(speaker(!s.left, i), s.rank, 0));
    }
    Ints in(others);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, s.inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, crossed);

    // Six elements: three for each on the left, two for each on the right.
    const Ints six(6, mine);
    Ints part(static_cast<std::size_t>(6 / s.size));
    MPI_Reduce_scatter_block(six.data(), part.data(), 6 / s.size, MPI_INT, MPI_SUM, s.inter);
    EXPECT_EQ(part, Ints(part.size(), s.left ? 33 : 1));
  });
}

TEST(InterCollective, WhatHasNoMeaningThereIsAnError) {
  run_sides([](const Sides& s) {
    return_errors(s.inter);
    int a = 1;
    int b = 2;
    EXPECT_EQ(MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, s.inter), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, s.inter), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Allreduce(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM, s.inter), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_Bcast(&a, 1, MPI_INT, s.others, s.inter), MPI_ERR_ROOT);
  });
}

}  // namespace
}  // namespace weft::mpi
