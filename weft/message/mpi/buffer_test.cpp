// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "buffering.hpp"
#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

TEST(Buffer, FullIsAnErrorAndSpaceComesBack) {
  run_jobs(2, [](int rank) {
    return_errors();
    std::vector<int> data(100, 7);
    if (rank == 0) {
      std::vector<char> space(1000 + MPI_BSEND_OVERHEAD);
      MPI_Buffer_attach(space.data(), static_cast<int>(space.size()));
      EXPECT_EQ(MPI_Buffer_attach(space.data(), 10), MPI_ERR_BUFFER);
      int sent = 0;
      while (MPI_Bsend(data.data(), 100, MPI_INT, 1, 0, MPI_COMM_WORLD) == MPI_SUCCESS) ++sent;
      EXPECT_EQ(sent, 3);
      data.assign(100, 0);  // The copies are safe.
      MPI_Send(&sent, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
      void* back = nullptr;
      int size = 0;
      EXPECT_EQ(MPI_Buffer_detach(&back, &size), MPI_SUCCESS);
      EXPECT_EQ(back, space.data());
      EXPECT_EQ(MPI_Buffer_detach(&back, &size), MPI_ERR_BUFFER);
      EXPECT_EQ(MPI_Bsend(data.data(), 1, MPI_INT, 1, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    } else {
      int sent = 0;
      MPI_Recv(&sent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < sent; ++i) {
        data.assign(100, 0);
        MPI_Recv(data.data(), 100, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(data, std::vector<int>(100, 7));
      }
    }
  });
}

TEST(Buffer, AutomaticHasRoomForAll) {
  run_jobs(2, [](int rank) {
    constexpr int many = 50;
    std::vector<int> data(100);
    if (rank == 0) {
      MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
      for (int i = 0; i < many; ++i) {
        data.assign(100, i);
        EXPECT_EQ(MPI_Bsend(data.data(), 100, MPI_INT, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
      }
      MPI_Request flush[2];
      MPI_Buffer_iflush(&flush[0]);
      MPI_Buffer_iflush(&flush[1]);
      EXPECT_EQ(MPI_Waitall(2, flush, MPI_STATUSES_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(MPI_Buffer_flush(), MPI_SUCCESS);
      void* back = nullptr;
      int size = -1;
      EXPECT_EQ(MPI_Buffer_detach(&back, &size), MPI_SUCCESS);
      EXPECT_EQ(back, MPI_BUFFER_AUTOMATIC);
    } else {
      for (int i = 0; i < many; ++i) {
        MPI_Recv(data.data(), 100, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(data[50], i);
      }
    }
  });
}

TEST(Buffer, PersistentAndTypesWithGaps) {
  run_jobs(2, [](int rank) {
    MPI_Datatype column;
    MPI_Type_vector(50, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    std::vector<int> data(100, -1);
    if (rank == 0) {
      std::vector<char> space(10000);
      MPI_Buffer_attach(space.data(), 10000);
      MPI_Request request;
      MPI_Bsend_init(data.data(), 1, column, 1, 0, MPI_COMM_WORLD, &request);
      for (int i = 0; i < 4; ++i) {
        data.assign(100, i);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      MPI_Request_free(&request);
      void* back = nullptr;
      int size = 0;
      MPI_Buffer_detach(&back, &size);
    } else {
      for (int i = 0; i < 4; ++i) {
        MPI_Recv(data.data(), 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(data[98], i);
        EXPECT_EQ(data[97], -1);
      }
    }
    MPI_Type_free(&column);
  });
}

}  // namespace
}  // namespace weft::mpi
