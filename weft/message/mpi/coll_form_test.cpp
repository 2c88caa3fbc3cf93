// SPDX-License-Identifier: Apache-2.0
// The forms of collective operations: non-blocking, persistent, with large counts.
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/coll_test_data.hpp>
#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;
using Counts = std::vector<MPI_Count>;

TEST(CollectiveForms, ManyMayBeUnderWayAtOnce) {
  run_jobs(5, [](int rank) {
    constexpr int calls = 12;
    std::vector<Ints> in(calls);
    std::vector<Ints> out(calls);
    std::vector<MPI_Request> requests(calls, MPI_REQUEST_NULL);
    for (int i = 0; i < calls; ++i) {
      const auto k = static_cast<std::size_t>(i);
      in[k] = Ints(50, rank + i);
      out[k] = Ints(50, untouched);
      MPI_Iallreduce(in[k].data(), out[k].data(), 50, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                     &requests[k]);
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    // Communicators may be created meanwhile.
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    // Each rank waits in a different order.
    for (int i = 0; i < calls; ++i) {
      const auto k = static_cast<std::size_t>((i + 3 * rank) % calls);
      EXPECT_EQ(MPI_Wait(&requests[k], MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(out[k], Ints(50, 10 + 5 * static_cast<int>(k)));
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
  });
}

TEST(CollectiveForms, TheCommunicatorMayBeFreedMeanwhile) {
  run_jobs(4, [](int rank) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    const TestType gaps(true);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_dup(gaps.get(), &type);
    Ints data = gaps.buffer(100);
    if (rank == 2) gaps.fill(data, 0, 100, 2, 0);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), 100, type, 2, copy, &request);
    MPI_Type_free(&type);
    MPI_Comm_free(&copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    Ints expected = gaps.buffer(100);
    gaps.fill(expected, 0, 100, 2, 0);
    EXPECT_EQ(data, expected);
  });
}

TEST(CollectiveForms, PersistentOnesStartInAnyOrderAndAgain) {
  run_jobs(4, [](int rank) {
    Ints a(10);
    Ints b(40);
    Ints c(10);
    MPI_Request requests[3];
    MPI_Bcast_init(a.data(), 10, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allgather_init(a.data(), 10, MPI_INT, b.data(), 10, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[1]);
    MPI_Exscan_init(a.data(), c.data(), 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &requests[2]);
    for (int turn = 0; turn < 4; ++turn) {
      a.assign(10, rank == 1 ? turn : untouched);
      MPI_Start(&requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      EXPECT_EQ(a, Ints(10, turn));
      a.assign(10, rank + turn);
      const bool swapped = (rank + turn) % 2 == 0;
      MPI_Start(&requests[swapped ? 2 : 1]);
      MPI_Start(&requests[swapped ? 1 : 2]);
      MPI_Waitall(2, &requests[1], MPI_STATUSES_IGNORE);
      for (int i = 0; i < 40; ++i) EXPECT_EQ(b[static_cast<std::size_t>(i)], i / 10 + turn);
      if (rank > 0) {
        EXPECT_EQ(c, Ints(10, rank * turn + rank * (rank - 1) / 2));
      }
    }
    for (MPI_Request& request : requests) {
      EXPECT_NE(request, MPI_REQUEST_NULL);
      MPI_Request_free(&request);
    }
  });
}

// All operations once, in the form that `run` selects: the sum over all results is the same for
// every form.
template <typename Run>
int checksum(int rank, int size, Run run) {
  const auto n = static_cast<std::size_t>(size);
  Ints send(n);
  for (std::size_t i = 0; i < n; ++i) send[i] = number(rank, static_cast<int>(i), 1);
  int sum = 0;
  run(send, [&](const Ints& received) {
    for (std::size_t i = 0; i < received.size(); ++i) {
      sum = (sum * 31 + received[i]) % 1000003;
    }
  });
  return sum;
}

TEST(CollectiveForms, LargeCountsGiveTheSameResults) {
  run_jobs(4, [](int rank) {
    constexpr int size = 4;
    const Ints ones(size, 1);
    const Ints places = {0, 1, 2, 3};
    const Counts large_ones(size, 1);
    const std::vector<MPI_Aint> large_places = {0, 1, 2, 3};
    const MPI_Comm world = MPI_COMM_WORLD;
    const int small = checksum(rank, size, [&](Ints send, auto add) {
      Ints r(size);
      MPI_Bcast(send.data(), size, MPI_INT, 1, world);
      add(send);
      MPI_Gather(send.data() + rank, 1, MPI_INT, r.data(), 1, MPI_INT, 2, world);
      MPI_Scatter(send.data(), 1, MPI_INT, r.data(), 1, MPI_INT, 3, world);
      add(r);
      MPI_Alltoallv(send.data(), ones.data(), places.data(), MPI_INT, r.data(), ones.data(),
                    places.data(), MPI_INT, world);
      add(r);
      MPI_Allgatherv(&rank, 1, MPI_INT, r.data(), ones.data(), places.data(), MPI_INT, world);
      add(r);
      MPI_Reduce_scatter(send.data(), r.data(), ones.data(), MPI_INT, MPI_SUM, world);
      add(r);
      MPI_Scan(send.data(), r.data(), size, MPI_INT, MPI_MAX, world);
      add(r);
    });
    const int large = checksum(rank, size, [&](Ints send, auto add) {
      Ints r(size);
      MPI_Request q = MPI_REQUEST_NULL;
      MPI_Bcast_c(send.data(), size, MPI_INT, 1, world);
      add(send);
      MPI_Igather_c(send.data() + rank, 1, MPI_INT, r.data(), 1, MPI_INT, 2, world, &q);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
      MPI_Iscatter_c(send.data(), 1, MPI_INT, r.data(), 1, MPI_INT, 3, world, &q);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
      add(r);
      MPI_Ialltoallv_c(send.data(), large_ones.data(), large_places.data(), MPI_INT, r.data(),
                       large_ones.data(), large_places.data(), MPI_INT, world, &q);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
      add(r);
      MPI_Allgatherv_init_c(&rank, 1, MPI_INT, r.data(), large_ones.data(), large_places.data(),
                            MPI_INT, world, MPI_INFO_NULL, &q);
      MPI_Start(&q);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
      MPI_Request_free(&q);
      add(r);
      MPI_Reduce_scatter_c(send.data(), r.data(), large_ones.data(), MPI_INT, MPI_SUM, world);
      add(r);
      MPI_Iscan_c(send.data(), r.data(), size, MPI_INT, MPI_MAX, world, &q);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
      add(r);
    });
    EXPECT_EQ(small, large);
    EXPECT_NE(small, 0);
  });
}

}  // namespace
}  // namespace weft::mpi
