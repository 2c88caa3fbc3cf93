// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

struct Halves {
  bool low;
  MPI_Comm own, between;
};

// The first third on one side, the rest on the other; the leaders are the last of each.
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

// Each rank sends its number to all on the other side.
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
    // All equal: any order, but the same at all ranks.
    MPI_Intercomm_merge(halves.between, 1, &merged);
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
    // The last rank of each side.
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

// Every other rank on one side, the highest first; the rest on the other.
MPI_Group every_other(bool odd) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group made = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks;
  for (int i = size_of_comm(MPI_COMM_WORLD) - 1; i >= 0; --i) {
    if ((i % 2 == 1) == odd) ranks.push_back(i);
  }
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &made);
  MPI_Group_free(&world);
  return made;
}

TEST_P(Inter, FromGroupsAlone) {
  run_jobs(ranks(), [](int rank) {
    const bool odd = rank % 2 == 1;
    MPI_Group own = every_other(odd);
    MPI_Group other = every_other(!odd);
    MPI_Comm comm = MPI_COMM_NULL;
    ASSERT_EQ(
        MPI_Comm_create_from_group(own, "org.example", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
        MPI_SUCCESS);
    int size = 0;
    MPI_Group_size(own, &size);
    EXPECT_EQ(size_of_comm(comm), size);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &handler);
    EXPECT_EQ(handler, MPI_ERRORS_RETURN);
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(sum, size);
    MPI_Comm_free(&comm);

    // Only leaders use the other group.
    int place = -1;
    MPI_Group_rank(own, &place);
    const MPI_Group seen = place == 0 ? other : MPI_GROUP_NULL;
    ASSERT_EQ(MPI_Intercomm_create_from_groups(own, 0, seen, 0, "org.example", MPI_INFO_NULL,
                                               MPI_ERRORS_ARE_FATAL, &comm),
              MPI_SUCCESS);
    MPI_Group_size(other, &size);
    EXPECT_EQ(remote_size(comm), size);
    talk_across(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&own);
    MPI_Group_free(&other);
  });
}

TEST(FromGroup, BadArguments) {
  run_job({}, [](int) {
    return_errors(MPI_COMM_SELF);
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm comm = MPI_COMM_NULL;
    const MPI_Errhandler handler = MPI_ERRORS_RETURN;
    EXPECT_EQ(MPI_Comm_create_from_group(MPI_GROUP_NULL, "a", MPI_INFO_NULL, handler, &comm),
              MPI_ERR_GROUP);
    EXPECT_EQ(MPI_Comm_create_from_group(world, nullptr, MPI_INFO_NULL, handler, &comm),
              MPI_ERR_ARG);
    EXPECT_EQ(MPI_Comm_create_from_group(world, "a", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm),
              MPI_ERR_ERRHANDLER);
    EXPECT_EQ(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "a", MPI_INFO_NULL, handler, &comm),
              MPI_SUCCESS);
    EXPECT_EQ(comm, MPI_COMM_NULL);
    EXPECT_EQ(
        MPI_Intercomm_create_from_groups(world, 7, world, 0, "a", MPI_INFO_NULL, handler, &comm),
        MPI_ERR_RANK);
    MPI_Group_free(&world);
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Inter, testing::Values(2, 3, 5, 12, 20));

}  // namespace
}  // namespace weft::mpi
