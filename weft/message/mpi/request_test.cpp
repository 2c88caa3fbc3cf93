// SPDX-License-Identifier: Apache-2.0
// Requests: all forms of wait and test, persistent and generalized requests, cancelling.
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

constexpr int many = 12;

// Rank 0 receives one number from each of `many` messages; the bodies differ in how they wait.
void fan_in(void (*collect)(std::array<MPI_Request, many>&, const std::array<int, many>&)) {
  run_jobs(4, [&](int rank) {
    if (rank != 0) {
      for (int i = 0; i < many; ++i) {
        if (i % 3 + 1 == rank) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
      }
      return;
    }
    std::array<MPI_Request, many> requests;
    std::array<int, many> values;
    values.fill(-1);
    for (int i = 0; i < many; ++i) {
      MPI_Irecv(&values[static_cast<std::size_t>(i)], 1, MPI_INT, i % 3 + 1, i, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
    collect(requests, values);
    for (int i = 0; i < many; ++i) {
      EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(requests[static_cast<std::size_t>(i)], MPI_REQUEST_NULL);
    }
  });
}

// The standard's empty status has no error either.
TEST(Request, StatusOfNone) {
  run_jobs(1, [](int) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0;
    for (int way = 0; way < 3; ++way) {
      status.MPI_SOURCE = status.MPI_TAG = status.MPI_ERROR = 4711;
      if (way == 0) MPI_Wait(&none, &status);
      if (way == 1) MPI_Test(&none, &flag, &status);
      if (way == 2) MPI_Request_get_status(none, &flag, &status);
      EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
      EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
      EXPECT_EQ(status.MPI_ERROR, MPI_SUCCESS);
    }
  });
}

TEST(Request, Waitall) {
  fan_in([](auto& requests, const auto&) {
    std::array<MPI_Status, many> statuses;
    for (MPI_Status& status : statuses) status.MPI_ERROR = 4711;
    EXPECT_EQ(MPI_Waitall(many, requests.data(), statuses.data()), MPI_SUCCESS);
    for (int i = 0; i < many; ++i) {
      EXPECT_EQ(statuses[static_cast<std::size_t>(i)].MPI_TAG, i);
      EXPECT_EQ(statuses[static_cast<std::size_t>(i)].MPI_ERROR, 4711);  // Untouched.
    }
  });
}

TEST(Request, Waitany) {
  fan_in([](auto& requests, const auto& values) {
    std::array<bool, many> seen = {};
    for (int k = 0; k < many; ++k) {
      int index = -1;
      MPI_Status status;
      EXPECT_EQ(MPI_Waitany(many, requests.data(), &index, &status), MPI_SUCCESS);
      ASSERT_GE(index, 0);
      EXPECT_FALSE(seen[static_cast<std::size_t>(index)]);
      seen[static_cast<std::size_t>(index)] = true;
      EXPECT_EQ(values[static_cast<std::size_t>(index)], index);
      EXPECT_EQ(status.MPI_TAG, index);
    }
    int index = 0;
    MPI_Waitany(many, requests.data(), &index, MPI_STATUS_IGNORE);
    EXPECT_EQ(index, MPI_UNDEFINED);
  });
}

TEST(Request, WaitsomeAndTestsome) {
  fan_in([](auto& requests, const auto&) {
    int done = 0;
    while (done < many) {
      int count = 0;
      std::array<int, many> indices;
      std::array<MPI_Status, many> statuses;
      if (done % 2 == 0) {
        MPI_Waitsome(many, requests.data(), &count, indices.data(), statuses.data());
        EXPECT_GE(count, 1);
      } else {
        MPI_Testsome(many, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
        EXPECT_GE(count, 0);
      }
      done += count;
    }
    int count = 0;
    MPI_Waitsome(many, requests.data(), &count, nullptr, MPI_STATUSES_IGNORE);
    EXPECT_EQ(count, MPI_UNDEFINED);
  });
}

TEST(Request, TestallAndGetStatus) {
  fan_in([](auto& requests, const auto&) {
    int flag = 0;
    MPI_Status status;
    while (!flag) MPI_Request_get_status(requests[3], &flag, &status);
    EXPECT_EQ(status.MPI_TAG, 3);
    EXPECT_NE(requests[3], MPI_REQUEST_NULL);
    flag = 0;
    while (!flag) MPI_Request_get_status_all(many, requests.data(), &flag, MPI_STATUSES_IGNORE);
    int index = -1;
    MPI_Request_get_status_any(many, requests.data(), &index, &flag, &status);
    EXPECT_EQ(index, 0);
    flag = 0;
    while (!flag) MPI_Testall(many, requests.data(), &flag, MPI_STATUSES_IGNORE);
  });
}

TEST(Request, TestanyUntilDone) {
  fan_in([](auto& requests, const auto&) {
    int done = 0;
    while (done < many) {
      int index = -1, flag = 0;
      MPI_Testany(many, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
      if (flag) ++done;
    }
  });
}

TEST(Request, NullAndInactiveAreDone) {
  run_jobs(1, [](int) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status;
    status.MPI_SOURCE = 5;
    EXPECT_EQ(MPI_Wait(&none, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
    int flag = 0;
    EXPECT_EQ(MPI_Test(&none, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    int value = 0;
    MPI_Request idle;
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &idle);
    EXPECT_EQ(MPI_Wait(&idle, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    EXPECT_NE(idle, MPI_REQUEST_NULL);
    MPI_Request_free(&idle);
    EXPECT_EQ(idle, MPI_REQUEST_NULL);
  });
}

TEST(Request, PersistentManyRounds) {
  run_jobs(2, [](int rank) {
    std::vector<int> data(300);
    std::array<MPI_Request, 2> requests;
    const int peer = 1 - rank;
    std::vector<int> out(300);
    MPI_Recv_init(data.data(), 300, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
    using Init = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    for (const Init init : {&MPI_Send_init, &MPI_Ssend_init}) {
      init(out.data(), 300, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
      for (int round = 0; round < 5; ++round) {
        out.assign(300, round * 2 + rank);
        EXPECT_EQ(MPI_Startall(2, requests.data()), MPI_SUCCESS);
        EXPECT_EQ(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(data, std::vector<int>(300, round * 2 + peer));
        EXPECT_NE(requests[0], MPI_REQUEST_NULL);
      }
      MPI_Request_free(&requests[1]);
    }
    MPI_Request_free(&requests[0]);
  });
}

TEST(Request, FreedWhileUnderWay) {
  run_jobs(2, [](int rank) {
    std::vector<int> data(1000, rank == 0 ? 5 : 0);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Request request;
    if (rank == 0) {
      MPI_Isend(data.data(), 1000, MPI_INT, 1, 0, other, &request);
      MPI_Request_free(&request);
      MPI_Comm_free(&other);  // Kept until the send is done.
    } else {
      MPI_Recv(data.data(), 1000, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
      EXPECT_EQ(data[999], 5);
      MPI_Comm_free(&other);
    }
    EXPECT_EQ(other, MPI_COMM_NULL);
    // The buffer may be reused once the other side has the data.
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &data[0], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  });
}

TEST(Request, CancelledReceive) {
  run_jobs(2, [](int) {
    int value = 0, flag = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
    EXPECT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    MPI_Status status;
    EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    MPI_Test_cancelled(&status, &flag);
    EXPECT_EQ(flag, 1);
  });
}

// Either the send is cancelled and the receiver never sees it, or it arrives; never both.
TEST(Request, CancelledSend) {
  run_jobs(2, [](int rank) {
    using Isend = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    std::vector<char> space(100000);
    MPI_Buffer_attach(space.data(), 100000);
    int tag = 0;
    for (const Isend isend : {&MPI_Isend, &MPI_Issend, &MPI_Ibsend, &MPI_Irsend}) {
      std::vector<int> data(500, 3);
      tag += 10;
      int cancelled = -1;
      if (rank == 0) {
        MPI_Request request;
        isend(data.data(), 500, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
        EXPECT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
        MPI_Status status;
        EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
        MPI_Test_cancelled(&status, &cancelled);
        MPI_Send(&cancelled, 1, MPI_INT, 1, tag + 1, MPI_COMM_WORLD);
        EXPECT_EQ(cancelled, 1);  // It is large, and not yet received.
      } else {
        MPI_Recv(&cancelled, 1, MPI_INT, 0, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int waiting = -1;
        MPI_Iprobe(0, tag, MPI_COMM_WORLD, &waiting, MPI_STATUS_IGNORE);
        EXPECT_NE(waiting, cancelled);
      }
    }
    void* back = nullptr;
    int size = 0;
    MPI_Buffer_detach(&back, &size);
  });
}

struct Counts {
  int queried = 0, freed = 0, cancelled = 0;
};
int query(void* state, MPI_Status* status) {
  ++static_cast<Counts*>(state)->queried;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 8;
  status->MPI_TAG = 9;
  return MPI_SUCCESS;
}
int free_state(void* state) {
  ++static_cast<Counts*>(state)->freed;
  return MPI_SUCCESS;
}
int cancel(void* state, int) {
  ++static_cast<Counts*>(state)->cancelled;
  return MPI_SUCCESS;
}

TEST(Request, Generalized) {
  run_jobs(1, [](int) {
    Counts counts;
    MPI_Request request;
    MPI_Grequest_start(query, free_state, cancel, &counts, &request);
    int flag = 1;
    MPI_Status status;
    MPI_Test(&request, &flag, &status);
    EXPECT_EQ(flag, 0);
    MPI_Cancel(&request);
    EXPECT_EQ(counts.cancelled, 1);
    MPI_Grequest_complete(request);
    EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(counts.queried, 1);
    EXPECT_EQ(counts.freed, 1);
    EXPECT_EQ(status.MPI_SOURCE, 8);
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT_EQ(count, 3);

    MPI_Grequest_start(query, free_state, cancel, &counts, &request);
    const MPI_Request same = request;
    MPI_Request_free(&request);
    EXPECT_EQ(counts.freed, 1);
    MPI_Grequest_complete(same);
    EXPECT_EQ(counts.freed, 2);
  });
}

TEST(Request, ErrorsStandInTheStatuses) {
  run_jobs(2, [](int rank) {
    return_errors();
    std::array<int, 8> data = {};
    if (rank == 0) {
      for (const int count : {1, 4, 2})
        MPI_Send(data.data(), count, MPI_INT, 1, count, MPI_COMM_WORLD);
    } else {
      std::array<MPI_Request, 3> requests;
      std::array<MPI_Status, 3> statuses;
      int i = 0;
      for (const int tag : {1, 4, 2}) {
        MPI_Irecv(data.data() + 2 * i, 2, MPI_INT, 0, tag, MPI_COMM_WORLD,
                  &requests[static_cast<std::size_t>(i)]);
        ++i;
      }
      EXPECT_EQ(MPI_Waitall(3, requests.data(), statuses.data()), MPI_ERR_IN_STATUS);
      EXPECT_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
      EXPECT_EQ(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
      EXPECT_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
    }
  });
}

// They share an object, which the program must not notice.
TEST(Request, SendsThatLeftAtOnce) {
  run_jobs(2, [](int rank) {
    std::array<MPI_Request, 4> sends;
    std::array<int, 4> values = {3, 4, 5, 6};
    if (rank == 1) {
      for (int i = 0; i < 4; ++i) {
        int value = 0;
        MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(value, 3 + i);
      }
      return;
    }
    for (int i = 0; i < 4; ++i) {
      const auto k = static_cast<std::size_t>(i);
      MPI_Isend(&values[k], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &sends[k]);
    }
    return_errors();
    EXPECT_EQ(MPI_Request_free(&sends[0]), MPI_SUCCESS);
    EXPECT_EQ(sends[0], MPI_REQUEST_NULL);
    MPI_Status status;
    int flag = 0;
    EXPECT_EQ(MPI_Cancel(&sends[1]), MPI_SUCCESS);
    EXPECT_EQ(MPI_Start(&sends[1]), MPI_ERR_REQUEST);
    EXPECT_EQ(MPI_Request_get_status(sends[1], &flag, &status), MPI_SUCCESS);
    EXPECT_TRUE(flag);
    EXPECT_EQ(MPI_Wait(&sends[1], &status), MPI_SUCCESS);
    EXPECT_EQ(sends[1], MPI_REQUEST_NULL);
    MPI_Test_cancelled(&status, &flag);
    EXPECT_FALSE(flag);
    MPI_Request copy = sends[2];
    EXPECT_EQ(MPI_Waitall(4, sends.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(sends[3], MPI_REQUEST_NULL);
    EXPECT_EQ(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  });
}

TEST(Request, GarbageIsAnError) {
  run_jobs(1, [](int) {
    return_errors();
    int value = 0;
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Request copy = request;
    EXPECT_EQ(MPI_Start(&request), MPI_ERR_REQUEST);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    copy = reinterpret_cast<MPI_Request>(&value);
    EXPECT_EQ(MPI_Test(&copy, &value, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    EXPECT_EQ(MPI_Request_free(&copy), MPI_ERR_REQUEST);
    EXPECT_EQ(MPI_Waitall(-1, nullptr, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    MPI_Request null = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Cancel(&null), MPI_ERR_REQUEST);
    EXPECT_EQ(MPI_Start(&null), MPI_ERR_REQUEST);
  });
}

}  // namespace
}  // namespace weft::mpi
