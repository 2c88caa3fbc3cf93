// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <weft/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

struct Halves {
  bool low;
  MPI_Comm own, between;
};

// The first third on one side, the rest on the other; leaders are the last of each.
Halves make_halves(int rank) {
  const int size = size_of_comm(MPI_COMM_WORLD), border = (size + 2) / 3;
  Halves halves;
  halves.low = rank < border;
  MPI_Comm_split(MPI_COMM_WORLD, halves.low ? 0 : 1, rank, &halves.own);
  MPI_Intercomm_create(halves.own, size_of_comm(halves.own) - 1, MPI_COMM_WORLD,
                       halves.low ? size - 1 : border - 1, 9, &halves.between);
  return halves;
}

void free_halves(Halves& halves) {
  MPI_Comm_free(&halves.own);
  MPI_Comm_free(&halves.between);
}

int remote_size(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_remote_size(comm, &size);
  return size;
}

// Each sends its number to all on the other side.
void talk_across(MPI_Comm comm) {
  const int rank = rank_in(comm), remote = remote_size(comm);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(remote));
  for (int i = 0; i < remote; ++i) {
    MPI_Isend(&rank, 1, MPI_INT, i, 2, comm, &requests[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < remote; ++i) {
    int value = -1;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, i, 2, comm, &status);
    EXPECT_EQ(value, i);
    EXPECT_EQ(status.MPI_SOURCE, i);
  }
  MPI_Waitall(remote, requests.data(), MPI_STATUSES_IGNORE);
}

class Inter : public testing::TestWithParam<int> {
 protected:
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(GetParam()); }
};

TEST_P(Inter, SizesGroupsAndMessages) {
  run_jobs(ranks(), [](int rank) {
    Halves halves = make_halves(rank);
    const int size = size_of_comm(MPI_COMM_WORLD), border = (size + 2) / 3;
    int flag = 0;
    MPI_Comm_test_inter(halves.between, &flag);
    EXPECT_EQ(flag, 1);
    MPI_Comm_test_inter(halves.own, &flag);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(size_of_comm(halves.between), halves.low ? border : size - border);
    EXPECT_EQ(remote_size(halves.between), halves.low ? size - border : border);
    EXPECT_EQ(rank_in(halves.between), halves.low ? rank : rank - border);
    talk_across(halves.between);
    MPI_Group group;
    MPI_Comm_remote_group(halves.between, &group);
    int position = 0;
    MPI_Group_rank(group, &position);
    EXPECT_EQ(position, MPI_UNDEFINED);
    MPI_Group_free(&group);
    free_halves(halves);
  });
}

TEST_P(Inter, Duplicate) {
  run_jobs(ranks(), [](int rank) {
    Halves halves = make_halves(rank);
    MPI_Comm copy, later;
    MPI_Comm_dup(halves.between, &copy);
    MPI_Request request;
    MPI_Comm_idup(halves.between, &later, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int result = 0;
    MPI_Comm_compare(halves.between, copy, &result);
    EXPECT_EQ(result, MPI_CONGRUENT);
    MPI_Comm_compare(halves.between, halves.own, &result);
    EXPECT_EQ(result, MPI_UNEQUAL);
    talk_across(copy);
    talk_across(later);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&later);
    free_halves(halves);
  });
}

TEST_P(Inter, MergeInEitherOrder) {
  run_jobs(ranks(), [](int rank) {
    Halves halves = make_halves(rank);
    const int size = size_of_comm(MPI_COMM_WORLD), border = (size + 2) / 3;
    MPI_Comm merged;
    MPI_Intercomm_merge(halves.between, halves.low ? 0 : 1, &merged);
    EXPECT_EQ(rank_in(merged), rank);
    MPI_Comm_free(&merged);
    MPI_Intercomm_merge(halves.between, halves.low ? 1 : 0, &merged);
    EXPECT_EQ(rank_in(merged), halves.low ? rank + size - border : rank - border);
    EXPECT_EQ(size_of_comm(merged), size);
    MPI_Comm_free(&merged);
    MPI_Intercomm_merge(halves.between, 1, &merged);  // All the same: some order, the same for all.
    int first = -1;
    if (rank_in(merged) == 0) {
      for (int i = 1; i < size; ++i) MPI_Send(&rank, 1, MPI_INT, i, 0, merged);
    } else {
      MPI_Recv(&first, 1, MPI_INT, 0, 0, merged, MPI_STATUS_IGNORE);
      EXPECT_TRUE(first == 0 || first == border);
    }
    MPI_Comm_free(&merged);
    free_halves(halves);
  });
}

TEST_P(Inter, SplitAndCreate) {
  run_jobs(ranks(), [](int rank) {
    Halves halves = make_halves(rank);
    const int mine = rank_in(halves.between);
    MPI_Comm part;
    MPI_Comm_split(halves.between, mine % 2, 0, &part);
    const int own = size_of_comm(halves.between), remote = remote_size(halves.between);
    const int evens_there = (remote + 1) / 2, odds_there = remote / 2;
    if (mine % 2 == 1 && odds_there == 0) {
      EXPECT_EQ(part, MPI_COMM_NULL);
    } else {
      EXPECT_EQ(remote_size(part), mine % 2 == 0 ? evens_there : odds_there);
      talk_across(part);
      MPI_Comm_free(&part);
    }
    // The last of each side.
    MPI_Group group, last;
    MPI_Comm_group(halves.between, &group);
    const int index = own - 1;
    MPI_Group_incl(group, 1, &index, &last);
    MPI_Comm_create(halves.between, last, &part);
    if (mine == index) {
      EXPECT_EQ(size_of_comm(part), 1);
      EXPECT_EQ(remote_size(part), 1);
      talk_across(part);
      MPI_Comm_free(&part);
    } else {
      EXPECT_EQ(part, MPI_COMM_NULL);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&last);
    free_halves(halves);
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Inter, testing::Values(2, 3, 5, 12, 20));

}  // namespace
}  // namespace weft::mpi
