// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

TEST(Environment, BeginAndEnd) {
  const Status status = run_bare({3}, [](int) {
    int flag = -1, provided = -1;
    MPI_Initialized(&flag);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    EXPECT_EQ(provided, MPI_THREAD_FUNNELED);  // Ranks of this test are fibers.
    MPI_Query_thread(&flag);
    EXPECT_EQ(flag, provided);
    MPI_Is_thread_main(&flag);
    EXPECT_EQ(flag, 1);
    MPI_Initialized(&flag);
    EXPECT_EQ(flag, 1);
    MPI_Finalized(&flag);
    EXPECT_EQ(flag, 0);
    return_errors();
    EXPECT_EQ(MPI_Init(nullptr, nullptr), MPI_ERR_OTHER);
    EXPECT_EQ(MPI_Finalize(), MPI_SUCCESS);
    MPI_Finalized(&flag);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(MPI_Comm_rank(MPI_COMM_WORLD, &flag), MPI_ERR_OTHER);
  });
  EXPECT_TRUE(status.has_value());
}

// A rank that finalizes late delays the others.
TEST(Environment, FinalizeIsCollective) {
  int finalized = 0;
  const Status status = run_bare({4}, [&](int rank) {
    MPI_Init(nullptr, nullptr);
    int value = 0;
    if (rank == 0) {
      for (int i = 1; i < 4; ++i) {
        MPI_Recv(&value, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(finalized, 0);
      }
    } else {
      MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    ++finalized;
  });
  EXPECT_TRUE(status.has_value());
  EXPECT_EQ(finalized, 4);
}

TEST(Environment, VersionsNamesAndMemory) {
  run_jobs(2, [](int) {
    int major = 0, minor = -1, length = 0;
    MPI_Get_version(&major, &minor);
    EXPECT_EQ(major, 5);
    EXPECT_EQ(minor, 0);
    MPI_Abi_get_version(&major, &minor);
    EXPECT_EQ(major, 1);
    std::vector<char> text(MPI_MAX_LIBRARY_VERSION_STRING);
    MPI_Get_library_version(text.data(), &length);
    EXPECT_EQ(std::string(text.data()).rfind("weft ", 0), 0U);
    MPI_Get_processor_name(text.data(), &length);
    EXPECT_STREQ(text.data(), "node0");
    EXPECT_EQ(length, 5);
    void* memory = nullptr;
    EXPECT_EQ(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory), MPI_SUCCESS);
    std::memset(memory, 1, 100);
    EXPECT_EQ(MPI_Free_mem(memory), MPI_SUCCESS);
    const double before = MPI_Wtime();
    MPI_Sendrecv(&major, 1, MPI_INT, 1 - rank_in(MPI_COMM_WORLD), 0, &minor, 1, MPI_INT,
                 MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_GE(MPI_Wtime(), before);
    EXPECT_GT(MPI_Wtick(), 0);
  });
}

TEST(Environment, WaitingForAMomentEnds) {
  run_jobs(2, [](int) {
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < 1e-3) {
    }
    EXPECT_LT(MPI_Wtime() - start, 1.1e-3);
  });
}

TEST(Environment, ProfileCountsCalls) {
  run_job({2}, [](int rank) {
    std::vector<double> data(10);
    for (int i = 0; i < 3; ++i) {
      if (rank == 0) MPI_Send(data.data(), 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      if (rank == 1) {
        MPI_Recv(data.data(), 10, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    const std::string name = rank == 0 ? "MPI_Send" : "MPI_Recv";
    std::uint64_t count = 0, bytes = 0;
    for (const Profile::Record& record : self().profile.records()) {
      if (name != record.call) continue;
      count += record.count;
      bytes += record.bytes;
    }
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(bytes, 240U);
  });
}

// In a process of its own: ranks that wait forever leak their memory.
TEST(EnvironmentDeathTest, DeadlockIsExplained) {
  const auto wait_in_a_ring = [] {
    const Status status = run_bare({3}, [](int rank) {
      MPI_Init(nullptr, nullptr);
      int value = 0;
      MPI_Recv(&value, 1, MPI_INT, (rank + 1) % 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    std::fprintf(stderr, "%s\n", status.has_value() ? "" : status.error().text().c_str());
    std::_Exit(3);
  };
  EXPECT_EXIT(wait_in_a_ring(), testing::ExitedWithCode(3),
              "MPI_Recv.*a message from rank 1 with tag 7 on MPI_COMM_WORLD");
}

// What a rank costs before it does anything, apart from its message layer.
TEST(Environment, RanksAreSmall) {
  EXPECT_LE(sizeof(Process), 2048U);
}

}  // namespace
}  // namespace weft::mpi
