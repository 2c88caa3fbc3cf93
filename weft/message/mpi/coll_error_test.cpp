// SPDX-License-Identifier: Apache-2.0
// Wrong arguments of collective operations.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

TEST(CollectiveError, ArgumentsAreChecked) {
  Job job;
  run_job(job, [](int rank) {
    return_errors();
    const MPI_Comm world = MPI_COMM_WORLD;
    int a[4] = {};
    int b[4] = {};
    EXPECT_EQ(MPI_Bcast(a, 1, MPI_INT, 2, world), MPI_ERR_ROOT);
    EXPECT_EQ(MPI_Bcast(a, 1, MPI_INT, -1, world), MPI_ERR_ROOT);
    EXPECT_EQ(MPI_Bcast(a, 1, MPI_INT, MPI_ROOT, world), MPI_ERR_ROOT);
    EXPECT_EQ(MPI_Bcast(a, -1, MPI_INT, 0, world), MPI_ERR_COUNT);
    EXPECT_EQ(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE);
    EXPECT_EQ(MPI_Bcast(nullptr, 1, MPI_INT, 0, world), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, world), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    EXPECT_EQ(MPI_Bcast(nullptr, 0, MPI_INT, 0, world), MPI_SUCCESS);
    EXPECT_EQ(MPI_Ibcast(a, 1, MPI_INT, 0, world, nullptr), MPI_ERR_ARG);

    EXPECT_EQ(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP);
    EXPECT_EQ(MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_SUM, world), MPI_ERR_OP);
    EXPECT_EQ(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_Reduce(a, b, 1, MPI_FLOAT, MPI_BAND, 0, world), MPI_ERR_OP);

    // Only the root may use MPI_IN_PLACE.
    if (rank == 1) {
      EXPECT_EQ(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, 0, world), MPI_ERR_BUFFER);
    }
    EXPECT_EQ(MPI_Allgather(a, 2, MPI_INT, b, 1, MPI_INT, world), MPI_ERR_TRUNCATE);
    EXPECT_EQ(MPI_Allgather(a + rank, 1, MPI_INT, a, 1, MPI_INT, world), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_Allgather(&b[rank], 1, MPI_INT, b, 1, MPI_INT, world), MPI_ERR_BUFFER);
    const int counts[2] = {1, -1};
    const int places[2] = {0, 1};
    EXPECT_EQ(MPI_Allgatherv(a, 1, MPI_INT, b, counts, places, MPI_INT, world), MPI_ERR_COUNT);
    EXPECT_EQ(MPI_Allgatherv(a, 1, MPI_INT, b, nullptr, places, MPI_INT, world), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    MPI_Datatype raw = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    EXPECT_EQ(MPI_Bcast(a, 1, raw, 0, world), MPI_ERR_TYPE);
    MPI_Type_free(&raw);
    // None of this has disturbed the order of calls.
    a[0] = rank;
    EXPECT_EQ(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, world), MPI_SUCCESS);
    EXPECT_EQ(b[1], 1);
  });
}

// The error also reaches ranks that only depend on one that disagrees.
TEST(CollectiveError, RanksThatDisagreeAboutSizesHearOfIt) {
  Job job;
  job.ranks = 8;
  run_job(job, [](int rank) {
    return_errors();
    std::vector<int> data(100);
    int code = MPI_Bcast(data.data(), rank == 0 ? 20 : 10, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT_EQ(code == MPI_SUCCESS, rank == 0);
    code = MPI_Bcast(data.data(), rank == 0 ? 10 : 20, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT_EQ(code == MPI_SUCCESS, rank == 0);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), rank == 0 ? 20 : 10, MPI_INT, 0, MPI_COMM_WORLD, &request);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, rank == 0);
  });
}

// In a process of its own: ranks that wait forever leak their memory.
TEST(CollectiveErrorDeathTest, WhoWaitsForEverIsNamed) {
  const auto wait_for_ever = [] {
    const Status status = run_bare({}, [](int rank) {
      MPI_Init(nullptr, nullptr);
      if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
      int a = 0;
      if (rank == 1) MPI_Recv(&a, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    std::fprintf(stderr, "%s\n", status.has_value() ? "" : status.error().text().c_str());
    std::_Exit(3);
  };
  EXPECT_EXIT(wait_for_ever(), testing::ExitedWithCode(3),
              "rank 0 in MPI_Barrier waits for the other ranks");
}

TEST(CollectiveErrorDeathTest, ErrorsAreFatalUnlessHandled) {
  Job job;
  EXPECT_DEATH(run_job(job,
                       [](int) {
                         int a = 0;
                         MPI_Bcast(&a, 1, MPI_INT, 7, MPI_COMM_WORLD);
                       }),
               "MPI_Bcast.*7 among 2");
}

}  // namespace
}  // namespace weft::mpi
