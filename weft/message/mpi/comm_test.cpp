// SPDX-License-Identifier: Apache-2.0
// Communicators: duplicates, splits, subsets, names, and contexts that never mix.
#include "comm.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

// Every member sends to the next and checks the number that it receives.
void go_round(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of_comm(comm);
  int got = -1;
  MPI_Status status;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 17, &got, 1, MPI_INT, MPI_ANY_SOURCE, 17, comm,
               &status);
  EXPECT_EQ(got, (rank + size - 1) % size);
  EXPECT_EQ(status.MPI_SOURCE, got);
}

TEST(Comm, DuplicateIsCongruent) {
  run_jobs(5, [](int rank) {
    MPI_Comm copy, copy_of_copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_dup(copy, &copy_of_copy);
    int result = 0;
    MPI_Comm_compare(copy, copy_of_copy, &result);
    EXPECT_EQ(result, MPI_CONGRUENT);
    MPI_Comm_compare(copy, copy, &result);
    EXPECT_EQ(result, MPI_IDENT);
    EXPECT_EQ(rank_in(copy_of_copy), rank);
    go_round(copy);
    MPI_Comm_free(&copy);
    EXPECT_EQ(copy, MPI_COMM_NULL);
    go_round(copy_of_copy);
    MPI_Comm_free(&copy_of_copy);
  });
}

class Split : public testing::TestWithParam<int> {};

TEST_P(Split, ByColourAndKey) {
  run_jobs(static_cast<std::uint32_t>(GetParam()), [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    for (const int colours : {1, 2, 3}) {
      MPI_Comm part;
      MPI_Comm_split(MPI_COMM_WORLD, rank % colours, -rank, &part);  // In reverse order.
      const int members = (size - rank % colours + colours - 1) / colours;
      EXPECT_EQ(size_of_comm(part), members);
      EXPECT_EQ(rank_in(part), members - 1 - rank / colours);
      go_round(part);
      MPI_Comm_free(&part);
    }
    // Equal keys: in the order of ranks; and some ranks do not take part.
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 0 ? 5 : MPI_UNDEFINED, 0, &part);
    if (rank % 3 == 0) {
      EXPECT_EQ(rank_in(part), rank / 3);
      go_round(part);
      MPI_Comm_free(&part);
    } else {
      EXPECT_EQ(part, MPI_COMM_NULL);
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Sizes, Split, testing::Values(1, 2, 3, 7, 16, 33, 64));

TEST(Comm, SplitInRowsAndColumnsAgain) {
  run_jobs(12, [](int rank) {
    MPI_Comm row, column, cell;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 4, rank, &column);
    EXPECT_EQ(rank_in(row), rank % 4);
    EXPECT_EQ(rank_in(column), rank / 4);
    go_round(row);
    go_round(column);
    MPI_Comm_split(row, rank_in(row) % 2, 0, &cell);
    EXPECT_EQ(size_of_comm(cell), 2);
    go_round(cell);
    go_round(MPI_COMM_WORLD);
    for (MPI_Comm* comm : {&row, &column, &cell}) MPI_Comm_free(comm);
  });
}

TEST(Comm, SharedMemoryIsTheNode) {
  Job job;
  job.ranks = 10;
  job.ranks_per_node = 4;
  run_job(job, [](int rank) {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    EXPECT_EQ(size_of_comm(node), rank < 8 ? 4 : 2);
    EXPECT_EQ(rank_in(node), rank % 4);
    MPI_Comm_free(&node);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &node);
    EXPECT_EQ(size_of_comm(node), rank < 8 ? 4 : 2);
    MPI_Comm smaller;
    MPI_Comm_split_type(node, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &smaller);
    EXPECT_EQ(smaller, MPI_COMM_NULL);
    MPI_Comm_free(&node);
  });
}

TEST(Comm, CreateFromGroup) {
  run_jobs(9, [](int rank) {
    MPI_Group all, odd;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int range[1][3] = {{7, 1, -2}};
    MPI_Group_range_incl(all, 1, range, &odd);
    MPI_Comm made;
    MPI_Comm_create(MPI_COMM_WORLD, odd, &made);
    if (rank % 2 == 1) {
      EXPECT_EQ(rank_in(made), (7 - rank) / 2);
      go_round(made);
      MPI_Comm_free(&made);
      // Only members call this one.
      MPI_Comm_create_group(MPI_COMM_WORLD, odd, 3, &made);
      go_round(made);
      MPI_Comm_free(&made);
    } else {
      EXPECT_EQ(made, MPI_COMM_NULL);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&odd);
  });
}

// A rank may already be in the next call while others are still in the previous one, with the same
// tag.
TEST(Comm, GroupsOneAfterTheOther) {
  run_jobs(4, [](int rank) {
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (const auto& members : {std::vector{0, 3}, {1, 3}, {2, 3}, {1, 2, 3}, {0, 2}}) {
      if (std::find(members.begin(), members.end(), rank) == members.end()) continue;
      MPI_Group some;
      MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some);
      MPI_Comm made;
      MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &made);
      go_round(made);
      MPI_Comm_free(&made);
      MPI_Group_free(&some);
    }
    MPI_Group_free(&all);
  });
}

// Groups that overlap in one rank, created at different times by different ranks: contexts differ.
TEST(Comm, ContextsOfOverlappingGroups) {
  run_jobs(6, [](int rank) {
    std::vector<MPI_Comm> comms;
    for (int i = 0; i < 5; ++i) {
      MPI_Comm part;
      MPI_Comm_split(MPI_COMM_WORLD, rank <= i ? 0 : MPI_UNDEFINED, 0, &part);
      if (part != MPI_COMM_NULL) comms.push_back(part);
      MPI_Comm self_copy;
      MPI_Comm_dup(MPI_COMM_SELF, &self_copy);
      comms.push_back(self_copy);
    }
    std::vector<std::uint32_t> contexts;
    for (const MPI_Comm comm : comms) contexts.push_back(find_communicator(self(), comm)->context);
    std::sort(contexts.begin(), contexts.end());
    EXPECT_EQ(std::adjacent_find(contexts.begin(), contexts.end()), contexts.end());
    for (MPI_Comm& comm : comms) {
      go_round(comm);
      MPI_Comm_free(&comm);
    }
  });
}

TEST(Comm, NonBlockingDuplicatesOverlap) {
  run_jobs(8, [](int rank) {
    MPI_Comm row;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &row);
    constexpr int many = 4;
    std::vector<MPI_Comm> made(2 * many + 1);
    std::vector<MPI_Request> requests(2 * many);
    for (int i = 0; i < many; ++i) {
      const auto k = static_cast<std::size_t>(2 * i);
      // Ranks start them in different orders.
      const bool row_first = rank % 2 == 0;
      MPI_Comm_idup(row_first ? row : MPI_COMM_WORLD, &made[k], &requests[k]);
      MPI_Comm_idup(row_first ? MPI_COMM_WORLD : row, &made[k + 1], &requests[k + 1]);
    }
    MPI_Comm_dup(row, &made.back());  // One of them is blocking.
    EXPECT_EQ(MPI_Waitall(2 * many, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    std::vector<std::uint32_t> contexts;
    for (const MPI_Comm comm : made) contexts.push_back(find_communicator(self(), comm)->context);
    std::sort(contexts.begin(), contexts.end());
    EXPECT_EQ(std::adjacent_find(contexts.begin(), contexts.end()), contexts.end());
    for (int i = 0; i < many; ++i) {
      const auto k = static_cast<std::size_t>(2 * i) + (rank % 2 == 0 ? 0 : 1);
      go_round(made[k]);
    }
    for (int i = 0; i < many; ++i) {
      const auto k = static_cast<std::size_t>(2 * i) + (rank % 2 == 0 ? 1 : 0);
      go_round(made[k]);
    }
    for (MPI_Comm& comm : made) MPI_Comm_free(&comm);
    MPI_Comm_free(&row);
  });
}

TEST(Comm, WithoutDataTheLibraryStillAgrees) {
  Job job;
  job.ranks = 9;
  job.carries_data = false;
  run_job(job, [](int rank) {
    MPI_Comm part, copy;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    EXPECT_EQ(size_of_comm(part), rank % 2 == 0 ? 5 : 4);
    EXPECT_EQ(rank_in(part), (rank % 2 == 0 ? 4 : 3) - rank / 2);
    MPI_Comm_dup(part, &copy);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
  });
}

TEST(Comm, Names) {
  run_jobs(1, [](int) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    EXPECT_STREQ(name, "MPI_COMM_WORLD");
    EXPECT_EQ(length, 14);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_name(copy, name, &length);
    EXPECT_STREQ(name, "");
    const std::string wide(300, 'x');
    MPI_Comm_set_name(copy, wide.c_str());
    MPI_Comm_get_name(copy, name, &length);
    EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
    MPI_Comm_disconnect(&copy);
    EXPECT_EQ(copy, MPI_COMM_NULL);
  });
}

TEST(Comm, InfoStays) {
  run_jobs(2, [](int) {
    MPI_Info info, used;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "nobody_knows_it", "true");
    MPI_Comm copy;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
    MPI_Comm_get_info(copy, &used);
    char value[10];
    int flag = 0;
    MPI_Info_get(used, "mpi_assert_no_any_tag", 9, value, &flag);
    EXPECT_EQ(flag, 1);
    EXPECT_STREQ(value, "true");
    MPI_Info_get(used, "nobody_knows_it", 9, value, &flag);
    EXPECT_EQ(flag, 0);  // Ignored, and so not in use.
    MPI_Info_free(&info);
    MPI_Info_free(&used);
    MPI_Comm_free(&copy);
  });
}

TEST(Comm, BadHandlesAreErrors) {
  run_jobs(2, [](int) {
    return_errors();
    return_errors(MPI_COMM_SELF);
    int value = 0;
    EXPECT_EQ(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Comm_size(reinterpret_cast<MPI_Comm>(&value), &value), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    MPI_Comm copy, null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm gone = copy;
    MPI_Comm_free(&copy);
    EXPECT_EQ(MPI_Comm_rank(gone, &value), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Comm_free(&gone), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Comm_free(&null), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Comm_free(&world), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &copy), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &copy), MPI_ERR_GROUP);
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    EXPECT_EQ(MPI_Comm_create(MPI_COMM_SELF, all, &copy), MPI_ERR_GROUP);
    MPI_Group_free(&all);
    EXPECT_EQ(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
  });
}

TEST(Comm, NumbersForFortran) {
  run_jobs(1, [](int) {
    EXPECT_EQ(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    EXPECT_EQ(MPI_Comm_fromint(0x102), MPI_COMM_SELF);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    EXPECT_EQ(MPI_Comm_fromint(MPI_Comm_toint(copy)), copy);
    MPI_Comm_free(&copy);
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    EXPECT_EQ(MPI_Type_fromint(MPI_Type_toint(type)), type);
    EXPECT_EQ(MPI_Type_toint(MPI_INT), 0x209);
    MPI_Type_free(&type);
  });
}

TEST(Comm, NullHandlesHaveNames) {
  run_job({1}, [](int) {
    return_errors();
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    EXPECT_EQ(MPI_Comm_get_name(MPI_COMM_NULL, name, &length), MPI_SUCCESS);
    EXPECT_STREQ(name, "MPI_COMM_NULL");
    EXPECT_EQ(length, 13);
    EXPECT_EQ(MPI_Win_get_name(MPI_WIN_NULL, name, &length), MPI_SUCCESS);
    EXPECT_STREQ(name, "MPI_WIN_NULL");
    EXPECT_EQ(length, 12);
    int no_comm = 0;
    EXPECT_EQ(MPI_Comm_get_name(reinterpret_cast<MPI_Comm>(&no_comm), name, &length), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Comm_set_name(MPI_COMM_NULL, "x"), MPI_ERR_COMM);
  });
}

}  // namespace
}  // namespace weft::mpi
