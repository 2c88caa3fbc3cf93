// SPDX-License-Identifier: Apache-2.0
// Point-to-point messages: modes, matching, types, errors.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;

Ints numbers(int count, int seed) {
  Ints values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), seed * 1000);
  return values;
}

using Send = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

// Small messages go eagerly, large ones by rendezvous.
TEST(Message, EveryModeDeliversSmallAndLarge) {
  run_jobs(2, [](int rank) {
    std::vector<char> space(100000);
    MPI_Buffer_attach(space.data(), static_cast<int>(space.size()));
    int tag = 0;
    for (const Send send : {&MPI_Send, &MPI_Bsend, &MPI_Ssend, &MPI_Rsend}) {
      for (const int count : {0, 1, 10, 1000}) {
        ++tag;
        if (rank == 0) {
          const Ints data = numbers(count, tag);
          int ready = 0;  // So that MPI_Rsend finds its receive.
          MPI_Recv(&ready, 1, MPI_INT, 1, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          EXPECT_EQ(send(data.data(), count, MPI_INT, 1, tag, MPI_COMM_WORLD), MPI_SUCCESS);
        } else {
          Ints data(static_cast<std::size_t>(count));
          MPI_Request request;
          MPI_Irecv(data.data(), count, MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
          MPI_Send(&tag, 1, MPI_INT, 0, 999, MPI_COMM_WORLD);
          MPI_Status status;
          EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
          EXPECT_EQ(request, MPI_REQUEST_NULL);
          EXPECT_EQ(data, numbers(count, tag));
          int received = -1;
          MPI_Get_count(&status, MPI_INT, &received);
          EXPECT_EQ(received, count);
          EXPECT_EQ(status.MPI_SOURCE, 0);
          EXPECT_EQ(status.MPI_TAG, tag);
        }
      }
    }
    void* back = nullptr;
    int size = 0;
    EXPECT_EQ(MPI_Buffer_detach(&back, &size), MPI_SUCCESS);
    EXPECT_EQ(back, space.data());
    EXPECT_EQ(size, 100000);
  });
}

// Messages of one sender are received in the order of sending, whatever their size.
TEST(Message, OrderIsKeptWithWildcards) {
  run_jobs(5, [](int rank) {
    constexpr int each = 20;
    const int others = size_of_comm(MPI_COMM_WORLD) - 1;
    if (rank > 0) {
      for (int i = 0; i < each; ++i) {
        const Ints data(static_cast<std::size_t>(i % 3 == 0 ? 100 : 2), i);
        MPI_Send(data.data(), static_cast<int>(data.size()), MPI_INT, 0, i % 7, MPI_COMM_WORLD);
      }
      return;
    }
    Ints next(static_cast<std::size_t>(others) + 1, 0);
    for (int k = 0; k < each * others; ++k) {
      Ints data(100);
      MPI_Status status;
      MPI_Recv(data.data(), 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      int& expected = next[static_cast<std::size_t>(status.MPI_SOURCE)];
      EXPECT_EQ(data[0], expected);
      EXPECT_EQ(status.MPI_TAG, expected % 7);
      ++expected;
    }
  });
}

TEST(Message, TagsSelect) {
  run_jobs(2, [](int rank) {
    if (rank == 0) {
      for (int tag = 0; tag < 8; ++tag) MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else {
      for (int tag = 7; tag >= 0; --tag) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(value, tag);
      }
    }
  });
}

TEST(Message, CommunicatorsDoNotMix) {
  run_jobs(2, [](int rank) {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int first = 1, second = 2;
    if (rank == 0) {
      MPI_Send(&first, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
      MPI_Send(&second, 1, MPI_INT, 1, 5, other);
    } else {
      int value = 0;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE);
      EXPECT_EQ(value, 2);
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(value, 1);
    }
    MPI_Comm_free(&other);
  });
}

TEST(Message, ToSelf) {
  run_jobs(1, [](int) {
    for (const int count : {1, 1000}) {
      const Ints out = numbers(count, 3);
      Ints in(out.size());
      MPI_Request request;
      MPI_Irecv(in.data(), count, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
      MPI_Send(out.data(), count, MPI_INT, 0, 1, MPI_COMM_SELF);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(in, out);
    }
  });
}

TEST(Message, NullProcess) {
  run_jobs(1, [](int) {
    int value = 7;
    MPI_Status status;
    EXPECT_EQ(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    EXPECT_EQ(value, 7);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT_EQ(count, 0);
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  });
}

TEST(Message, TypesWithGaps) {
  run_jobs(2, [](int rank) {
    MPI_Datatype column;
    MPI_Type_vector(30, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
      const Ints data = numbers(60, 1);
      MPI_Send(data.data(), 1, column, 1, 0, MPI_COMM_WORLD);
      MPI_Request request;
      MPI_Isend(data.data(), 1, column, 1, 1, MPI_COMM_WORLD, &request);
      MPI_Type_free(&column);  // The request still uses it.
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Send(data.data(), 30, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
      Ints packed(30);
      MPI_Recv(packed.data(), 30, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < 30; ++i) EXPECT_EQ(packed[static_cast<std::size_t>(i)], 1000 + 2 * i);
      Ints spread(60, -1);
      MPI_Recv(spread.data(), 1, column, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < 59; ++i) {
        EXPECT_EQ(spread[static_cast<std::size_t>(i)], i % 2 == 0 ? 1000 + i : -1);
      }
      MPI_Request request;
      MPI_Irecv(spread.data(), 1, column, 0, 2, MPI_COMM_WORLD, &request);
      MPI_Type_free(&column);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < 30; ++i) EXPECT_EQ(spread[static_cast<std::size_t>(2 * i)], 1000 + i);
    }
  });
}

TEST(Message, ShorterThanTheRoom) {
  run_jobs(2, [](int rank) {
    if (rank == 0) {
      const Ints data = numbers(3, 1);
      MPI_Send(data.data(), 3, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
      Ints data(10, -1);
      MPI_Status status;
      MPI_Recv(data.data(), 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_INT, &count);
      EXPECT_EQ(count, 3);
      EXPECT_EQ(data[3], -1);
    }
  });
}

TEST(Message, TruncationIsAnError) {
  run_jobs(2, [](int rank) {
    return_errors();
    for (const int count : {10, 1000}) {
      if (rank == 0) {
        const Ints data = numbers(count, 1);
        EXPECT_EQ(MPI_Send(data.data(), count, MPI_INT, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
      } else {
        Ints data(10, -1);
        const int room = 4;
        EXPECT_EQ(MPI_Recv(data.data(), room, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                  MPI_ERR_TRUNCATE);
        EXPECT_EQ(data[4], -1);
      }
    }
  });
}

TEST(Message, SendrecvInARing) {
  run_jobs(7, [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (const int count : {1, 500}) {
      const Ints out = numbers(count, rank);
      Ints in(out.size());
      MPI_Status status;
      MPI_Sendrecv(out.data(), count, MPI_INT, right, 3, in.data(), count, MPI_INT, left, 3,
                   MPI_COMM_WORLD, &status);
      EXPECT_EQ(in, numbers(count, left));
      EXPECT_EQ(status.MPI_SOURCE, left);

      Ints both = numbers(count, rank);
      MPI_Sendrecv_replace(both.data(), count, MPI_INT, right, 4, left, 4, MPI_COMM_WORLD, &status);
      EXPECT_EQ(both, numbers(count, left));

      MPI_Request requests[2];
      Ints later(out.size()), replaced = numbers(count, rank + 50);
      MPI_Isendrecv(out.data(), count, MPI_INT, right, 5, later.data(), count, MPI_INT, left, 5,
                    MPI_COMM_WORLD, &requests[0]);
      MPI_Isendrecv_replace(replaced.data(), count, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD,
                            &requests[1]);
      MPI_Status statuses[2];
      EXPECT_EQ(MPI_Waitall(2, requests, statuses), MPI_SUCCESS);
      EXPECT_EQ(later, numbers(count, left));
      EXPECT_EQ(replaced, numbers(count, left + 50));
      EXPECT_EQ(statuses[1].MPI_SOURCE, left);
      EXPECT_EQ(statuses[1].MPI_TAG, 6);
    }
  });
}

TEST(Message, LargeCountForms) {
  run_jobs(2, [](int rank) {
    const MPI_Count count = 200;
    Ints data = rank == 0 ? numbers(200, 1) : Ints(200);
    if (rank == 0) {
      EXPECT_EQ(MPI_Send_c(data.data(), count, MPI_INT, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    } else {
      MPI_Status status;
      EXPECT_EQ(MPI_Recv_c(data.data(), count, MPI_INT, 0, 0, MPI_COMM_WORLD, &status),
                MPI_SUCCESS);
      EXPECT_EQ(data, numbers(200, 1));
      MPI_Count received = 0;
      MPI_Get_count_c(&status, MPI_INT, &received);
      EXPECT_EQ(received, 200);
    }
  });
}

// Sizes, sources and tags are the same without data, and no buffer is touched.
TEST(Message, WithoutData) {
  Job job;
  job.carries_data = false;
  run_job(job, [](int rank) {
    MPI_Datatype column;
    MPI_Type_vector(30, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (const int count : {1, 1000}) {
      Ints data(2000, rank);
      if (rank == 0) {
        MPI_Send(data.data(), count, MPI_INT, 1, 9, MPI_COMM_WORLD);
        MPI_Ssend(data.data(), 1, column, 1, 9, MPI_COMM_WORLD);
      } else {
        MPI_Status status;
        MPI_Recv(data.data(), 2000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        int received = 0;
        MPI_Get_count(&status, MPI_INT, &received);
        EXPECT_EQ(received, count);
        EXPECT_EQ(status.MPI_TAG, 9);
        MPI_Recv(data.data(), 1, column, 0, 9, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, column, &received);
        EXPECT_EQ(received, 1);
      }
      EXPECT_EQ(data, Ints(2000, rank));
    }
    MPI_Type_free(&column);
  });
}

TEST(Message, ManyToOneFlood) {
  run_jobs(33, [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    constexpr int each = 50;
    if (rank != 0) {
      for (int i = 0; i < each; ++i) MPI_Send(&i, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
      return;
    }
    for (int source = size - 1; source > 0; --source) {
      for (int i = 0; i < each; ++i) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, source, source, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(value, i);
      }
    }
  });
}

TEST(Message, NobodyNeedsNoType) {
  run_job({1}, [](int) {
    return_errors();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    EXPECT_EQ(MPI_Irecv(nullptr, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_EQ(MPI_Send(nullptr, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Recv(nullptr, 1, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status),
              MPI_ERR_TYPE);
    EXPECT_EQ(MPI_Irecv(nullptr, 0, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &request),
              MPI_ERR_TYPE);
  });
}

}  // namespace
}  // namespace weft::mpi
