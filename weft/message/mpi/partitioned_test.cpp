// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

// Partitions in reverse order; the receiver cuts differently.
void ring(int rank, int size, int all, int out, int in) {
  std::vector<int> to(static_cast<std::size_t>(all)), from(static_cast<std::size_t>(all), -1);
  MPI_Request requests[2];
  MPI_Psend_init(to.data(), out, all / out, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(from.data(), in, all / in, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < all; ++i) to[static_cast<std::size_t>(i)] = rank + 10 * round + 1000 * i;
    ASSERT_EQ(MPI_Startall(2, requests), MPI_SUCCESS);
    for (int i = out - 1; i >= 0; --i) ASSERT_EQ(MPI_Pready(i, requests[0]), MPI_SUCCESS);
    ASSERT_EQ(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    const int before = (rank + size - 1) % size;
    for (int i = 0; i < all; ++i) {
      ASSERT_EQ(from[static_cast<std::size_t>(i)], before + 10 * round + 1000 * i) << i;
    }
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

TEST(Partitioned, ArrivesHoweverItIsCut) {
  run_jobs(3, [](int rank) {
    ring(rank, 3, 12, 4, 4);
    ring(rank, 3, 12, 3, 4);
    ring(rank, 3, 1200, 12, 5);  // By rendezvous.
    ring(rank, 3, 1200, 1, 30);
  });
}

// One partition is there before the others are ready.
TEST(Partitioned, PartsArriveOneByOne) {
  run_jobs(2, [](int rank) {
    int data[4] = {1, 2, 3, 4};
    int flag = 0;
    MPI_Request request;
    if (rank == 0) {
      MPI_Psend_init(data, 4, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Pready(2, request);
      MPI_Recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      EXPECT_EQ(flag, 0);
      MPI_Pready_range(0, 1, request);
      MPI_Pready(3, request);
    } else {
      for (int& each : data) each = 0;
      MPI_Precv_init(data, 2, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Parrived(request, 1, &flag);  // Its other half is missing.
      EXPECT_EQ(flag, 0);
      MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
      while (!flag) MPI_Parrived(request, 0, &flag);
      EXPECT_EQ(data[0], 1);
      EXPECT_EQ(data[1], 2);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(data[3], 4);
    MPI_Request_free(&request);
  });
}

TEST(Partitioned, TellsThatThereIsTooLittleRoom) {
  run_job({2}, [](int rank) {
    return_errors();
    int data[4] = {};
    MPI_Request request;
    if (rank == 0) {
      MPI_Psend_init(data, 2, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Pready_range(0, 1, request);
    } else {
      MPI_Precv_init(data, 1, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
    }
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    MPI_Request_free(&request);
  });
}

TEST(Partitioned, ATypeWithGapsKeepsThem) {
  run_jobs(2, [](int rank) {
    MPI_Datatype spread;
    MPI_Type_create_resized(MPI_INT, 0, 8, &spread);
    MPI_Type_commit(&spread);
    int data[8] = {};
    MPI_Request request;
    if (rank == 0) {
      for (int i = 0; i < 8; ++i) data[i] = i + 1;
      MPI_Psend_init(data, 4, 1, spread, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Pready_range(0, 3, request);
    } else {
      MPI_Precv_init(data, 2, 2, spread, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(data[i], rank == 0 || i % 2 == 0 ? i + 1 : 0);
    MPI_Request_free(&request);
    MPI_Type_free(&spread);
  });
}

}  // namespace
}  // namespace weft::mpi
