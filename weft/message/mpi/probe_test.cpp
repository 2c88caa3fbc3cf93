// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

TEST(Probe, TellsTheSizeAndLeavesTheMessage) {
  run_jobs(2, [](int rank) {
    for (const int count : {3, 700}) {
      std::vector<int> data(static_cast<std::size_t>(count), count);
      if (rank == 0) {
        MPI_Send(data.data(), count, MPI_INT, 1, 4, MPI_COMM_WORLD);
        continue;
      }
      MPI_Status status;
      EXPECT_EQ(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status), MPI_SUCCESS);
      int size = 0, flag = 0;
      MPI_Get_count(&status, MPI_INT, &size);
      EXPECT_EQ(size, count);
      EXPECT_EQ(status.MPI_SOURCE, 0);
      EXPECT_EQ(status.MPI_TAG, 4);
      MPI_Iprobe(0, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      EXPECT_EQ(flag, 1);
      MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      EXPECT_EQ(flag, 0);
      std::vector<int> received(static_cast<std::size_t>(size));
      MPI_Recv(received.data(), size, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      EXPECT_EQ(received, data);
    }
  });
}

TEST(Probe, MatchedMessagesAreTakenOut) {
  run_jobs(2, [](int rank) {
    for (const int count : {3, 700}) {
      const int tag = count;  // The sender may be one iteration ahead.
      if (rank == 0) {
        const std::vector<int> zeros(static_cast<std::size_t>(count), 0);
        const std::vector<int> ones(static_cast<std::size_t>(count), 1);
        MPI_Request requests[2];
        MPI_Isend(zeros.data(), count, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(ones.data(), count, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        continue;
      }
      MPI_Message first, second;
      MPI_Status status;
      EXPECT_EQ(MPI_Mprobe(0, tag, MPI_COMM_WORLD, &first, &status), MPI_SUCCESS);
      int flag = 0, size = 0;
      while (!flag) MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &second, &status);
      MPI_Get_count(&status, MPI_INT, &size);
      EXPECT_EQ(size, count);
      MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      EXPECT_EQ(flag, 0);
      std::vector<int> data(static_cast<std::size_t>(count));
      MPI_Request request;
      EXPECT_EQ(MPI_Imrecv(data.data(), count, MPI_INT, &second, &request), MPI_SUCCESS);
      EXPECT_EQ(second, MPI_MESSAGE_NULL);
      EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
      EXPECT_EQ(data.back(), 1);
      EXPECT_EQ(MPI_Mrecv(data.data(), count, MPI_INT, &first, &status), MPI_SUCCESS);
      EXPECT_EQ(first, MPI_MESSAGE_NULL);
      EXPECT_EQ(status.MPI_TAG, tag);
      EXPECT_EQ(data.back(), 0);
    }
  });
}

TEST(Probe, NoProcess) {
  run_jobs(1, [](int) {
    return_errors();
    MPI_Message message;
    MPI_Status status;
    int flag = 0;
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    EXPECT_EQ(message, MPI_MESSAGE_NO_PROC);
    EXPECT_EQ(MPI_Mrecv(nullptr, 0, MPI_INT, &message, &status), MPI_SUCCESS);
    EXPECT_EQ(message, MPI_MESSAGE_NULL);
    EXPECT_EQ(MPI_Mrecv(nullptr, 0, MPI_INT, &message, &status), MPI_ERR_REQUEST);
  });
}

}  // namespace
}  // namespace weft::mpi
