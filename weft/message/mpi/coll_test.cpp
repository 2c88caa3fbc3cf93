// SPDX-License-Identifier: Apache-2.0
// Collectives of the interface, with datatypes with and without gaps.
#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/coll_test_data.hpp>
#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;

// Both types, all relevant roots, few and many elements.
void for_each_case(const std::function<void(const TestType&, int count, int root)>& body) {
  const int size = size_of_comm(MPI_COMM_WORLD);
  for (const bool gaps : {false, true}) {
    const TestType type(gaps);
    for (const int count : {0, 1, 30}) {
      for (const int root : {0, size - 1}) body(type, count, root);
    }
  }
}

void run_sizes(const std::function<void(int rank, int size)>& body) {
  for (const std::uint32_t ranks : {1U, 2U, 5U, 8U}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      Job job;
      job.ranks = ranks;
      job.seed = seed;
      job.ordered = seed % 2 == 0;
      SCOPED_TRACE(job.text());
      run_job(job, [&](int rank) { body(rank, static_cast<int>(ranks)); });
    }
  }
}

TEST(Collective, Bcast) {
  run_sizes([](int rank, int) {
    for_each_case([&](const TestType& type, int count, int root) {
      Ints expected = type.buffer(count);
      type.fill(expected, 0, count, root, 0);
      Ints data = rank == root ? expected : type.buffer(count);
      EXPECT_EQ(MPI_Bcast(data.data(), count, type.get(), root, MPI_COMM_WORLD), MPI_SUCCESS);
      EXPECT_EQ(data, expected);
    });
  });
}

TEST(Collective, GatherAndScatter) {
  run_sizes([](int rank, int size) {
    for_each_case([&](const TestType& type, int count, int root) {
      Ints mine = type.buffer(count);
      type.fill(mine, 0, count, rank, 0);
      Ints expected = type.buffer(count * size);
      for (int i = 0; i < size; ++i) type.fill(expected, i * count, count, i, 0);
      for (const bool in_place : {false, true}) {
        Ints all = type.buffer(count * size);
        const void* send = mine.data();
        if (in_place && rank == root) {
          type.fill(all, rank * count, count, rank, 0);
          send = MPI_IN_PLACE;
        }
        EXPECT_EQ(MPI_Gather(send, count, type.get(), all.data(), count, type.get(), root,
                             MPI_COMM_WORLD),
                  MPI_SUCCESS);
        if (rank == root) {
          EXPECT_EQ(all, expected);
        }
        Ints back = type.buffer(count);
        void* receive = in_place && rank == root ? MPI_IN_PLACE : back.data();
        EXPECT_EQ(MPI_Scatter(expected.data(), count, type.get(), receive, count, type.get(), root,
                              MPI_COMM_WORLD),
                  MPI_SUCCESS);
        if (receive != MPI_IN_PLACE) {
          EXPECT_EQ(back, mine);
        }
      }
    });
  });
}

// Blocks of none, two or four elements, with gaps and in descending order.
struct Uneven {
  explicit Uneven(int size) {
    for (int i = 0; i < size; ++i) {
      counts.push_back(i % 3 * 2);
      places.push_back((size - 1 - i) * 6);
    }
  }
  Ints counts, places;
};

TEST(Collective, GathervScattervAllgatherv) {
  run_sizes([](int rank, int size) {
    const Uneven uneven(size);
    const auto r = static_cast<std::size_t>(rank);
    for (const bool gaps : {false, true}) {
      const TestType type(gaps);
      Ints mine = type.buffer(uneven.counts[r]);
      type.fill(mine, 0, uneven.counts[r], rank, 0);
      Ints expected = type.buffer(6 * size);
      for (int i = 0; i < size; ++i) {
        const auto k = static_cast<std::size_t>(i);
        type.fill(expected, uneven.places[k], uneven.counts[k], i, 0);
      }
      const int root = size / 2;
      Ints all = type.buffer(6 * size);
      MPI_Gatherv(mine.data(), uneven.counts[r], type.get(), all.data(), uneven.counts.data(),
                  uneven.places.data(), type.get(), root, MPI_COMM_WORLD);
      if (rank == root) {
        EXPECT_EQ(all, expected);
      }
      Ints back = type.buffer(uneven.counts[r]);
      MPI_Scatterv(expected.data(), uneven.counts.data(), uneven.places.data(), type.get(),
                   back.data(), uneven.counts[r], type.get(), root, MPI_COMM_WORLD);
      EXPECT_EQ(back, mine);
      for (const bool in_place : {false, true}) {
        Ints everywhere = type.buffer(6 * size);
        if (in_place) type.fill(everywhere, uneven.places[r], uneven.counts[r], rank, 0);
        MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine.data(), uneven.counts[r], type.get(),
                       everywhere.data(), uneven.counts.data(), uneven.places.data(), type.get(),
                       MPI_COMM_WORLD);
        EXPECT_EQ(everywhere, expected);
      }
    }
  });
}

TEST(Collective, AllgatherAndAlltoall) {
  run_sizes([](int rank, int size) {
    for_each_case([&](const TestType& type, int count, int) {
      Ints mine = type.buffer(count);
      type.fill(mine, 0, count, rank, 0);
      Ints gathered = type.buffer(count * size);
      Ints outgoing = type.buffer(count * size);
      Ints incoming = type.buffer(count * size);
      for (int i = 0; i < size; ++i) {
        type.fill(gathered, i * count, count, i, 0);
        type.fill(outgoing, i * count, count, rank, i);
        type.fill(incoming, i * count, count, i, rank);
      }
      for (const bool in_place : {false, true}) {
        Ints all = type.buffer(count * size);
        if (in_place) type.fill(all, rank * count, count, rank, 0);
        MPI_Allgather(in_place ? MPI_IN_PLACE : mine.data(), count, type.get(), all.data(), count,
                      type.get(), MPI_COMM_WORLD);
        EXPECT_EQ(all, gathered);
        Ints crossed = in_place ? outgoing : type.buffer(count * size);
        MPI_Alltoall(in_place ? MPI_IN_PLACE : outgoing.data(), count, type.get(), crossed.data(),
                     count, type.get(), MPI_COMM_WORLD);
        EXPECT_EQ(crossed, incoming);
      }
    });
  });
}

// The receiver's type may differ from the sender's.
TEST(Collective, AlltoallvAndAlltoallw) {
  run_sizes([](int rank, int size) {
    const TestType plain(false);
    const TestType gaps(true);
    Ints counts;
    Ints places;
    for (int i = 0; i < size; ++i) {
      counts.push_back((rank + i) % 3);
      places.push_back(2 * i);
    }
    Ints send = plain.buffer(2 * size);
    Ints expected = gaps.buffer(2 * size);
    for (int i = 0; i < size; ++i) {
      const int count = counts[static_cast<std::size_t>(i)];
      plain.fill(send, 2 * i, count, rank, i);
      gaps.fill(expected, 2 * i, count, i, rank);
    }
    Ints receive = gaps.buffer(2 * size);
    MPI_Alltoallv(send.data(), counts.data(), places.data(), plain.get(), receive.data(),
                  counts.data(), places.data(), gaps.get(), MPI_COMM_WORLD);
    EXPECT_EQ(receive, expected);

    const auto n = static_cast<std::size_t>(size);
    const std::vector<MPI_Datatype> types_out(n, plain.get());
    std::vector<MPI_Datatype> types_in(n, gaps.get());
    Ints bytes_out;
    Ints bytes_in;
    for (int i = 0; i < size; ++i) {
      bytes_out.push_back(places[static_cast<std::size_t>(i)] * 8);
      bytes_in.push_back(places[static_cast<std::size_t>(i)] * 16);
    }
    receive = gaps.buffer(2 * size);
    MPI_Alltoallw(send.data(), counts.data(), bytes_out.data(), types_out.data(), receive.data(),
                  counts.data(), bytes_in.data(), types_in.data(), MPI_COMM_WORLD);
    EXPECT_EQ(receive, expected);
    // Types without gaps, and addresses instead of a buffer.
    std::vector<MPI_Aint> from(n);
    std::vector<MPI_Aint> to(n);
    std::vector<MPI_Count> large(counts.begin(), counts.end());
    Ints back = plain.buffer(2 * size);
    for (std::size_t i = 0; i < n; ++i) {
      MPI_Get_address(&send[4 * i], &from[i]);
      MPI_Get_address(&back[4 * i], &to[i]);
    }
    MPI_Alltoallw_c(MPI_BOTTOM, large.data(), from.data(), types_out.data(), MPI_BOTTOM,
                    large.data(), to.data(), types_out.data(), MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
      for (int k = 0; k < 2 * counts[static_cast<std::size_t>(i)]; ++k) {
        EXPECT_EQ(plain.at(back, 4 * i + k), number(i, rank, k));
      }
    }
  });
}

// (a, b) of the line a x + b; the operator composes lines.
void chain(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  const auto second = extent == 16 ? 2 : 1;
  for (int i = 0; i < *count; ++i) {
    const int* left = static_cast<int*>(in) + i * extent / 4;
    int* right = static_cast<int*>(inout) + i * extent / 4;
    const int a = left[0] * right[0] % 10007;
    const int b = (left[0] * right[second] + left[second]) % 10007;
    right[0] = a;
    right[second] = b;
  }
}

struct Line {
  int a = 1, b = 0;
  Line then(const Line& next) const { return {a * next.a % 10007, (a * next.b + b) % 10007}; }
};
Line line(int rank, int place) {
  return {rank * 7 + place + 2, rank * 3 + place};
}
Line chained(int end, int place) {
  Line all;
  for (int i = 0; i < end; ++i) all = all.then(line(i, place));
  return all;
}

void put(const TestType& type, Ints& data, int place, const Line& value) {
  type.at(data, 2 * place) = value.a;
  type.at(data, 2 * place + 1) = value.b;
}

TEST(Collective, ReductionsKeepTheOrderOfTheProgramsOperator) {
  run_sizes([](int rank, int size) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&chain, 0, &op);
    for_each_case([&](const TestType& type, int count, int root) {
      const int all_count = count * size;
      Ints mine = type.buffer(all_count);
      Ints total = type.buffer(all_count);
      Ints upto = type.buffer(count);
      Ints below = type.buffer(count);
      for (int i = 0; i < all_count; ++i) {
        put(type, mine, i, line(rank, i));
        put(type, total, i, chained(size, i));
      }
      for (int i = 0; i < count; ++i) {
        put(type, upto, i, chained(rank + 1, i));
        if (rank > 0) put(type, below, i, chained(rank, i));
      }
      const auto width = static_cast<std::ptrdiff_t>(type.buffer(count).size());
      for (const bool in_place : {false, true}) {
        const void* send = in_place ? MPI_IN_PLACE : mine.data();
        const auto start = [&](int elements) {
          return in_place ? Ints(mine.begin(), mine.begin() + elements * width / std::max(count, 1))
                          : type.buffer(elements);
        };
        Ints result = start(all_count);
        const bool here = rank == root;
        MPI_Reduce(here ? send : mine.data(), result.data(), all_count, type.get(), op, root,
                   MPI_COMM_WORLD);
        if (here) {
          EXPECT_EQ(result, total);
        }
        result = start(all_count);
        MPI_Allreduce(send, result.data(), all_count, type.get(), op, MPI_COMM_WORLD);
        EXPECT_EQ(result, total);
        result = start(count);
        MPI_Scan(send, result.data(), count, type.get(), op, MPI_COMM_WORLD);
        EXPECT_EQ(result, upto);
        result = start(count);
        MPI_Exscan(send, result.data(), count, type.get(), op, MPI_COMM_WORLD);
        if (rank > 0) {
          EXPECT_EQ(result, below);
        } else {
          EXPECT_EQ(result, start(count));
        }
        const Ints part(total.begin() + rank * width, total.begin() + (rank + 1) * width);
        result = in_place ? mine : type.buffer(count);
        MPI_Reduce_scatter_block(send, result.data(), count, type.get(), op, MPI_COMM_WORLD);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), result.begin()));
        const Ints counts(static_cast<std::size_t>(size), count);
        result = in_place ? mine : type.buffer(count);
        MPI_Reduce_scatter(send, result.data(), counts.data(), type.get(), op, MPI_COMM_WORLD);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), result.begin()));
      }
    });
    MPI_Op_free(&op);
  });
}

TEST(Collective, PairsFindTheirGreatest) {
  run_sizes([](int rank, int size) {
    struct Pair {
      double value;
      int index;
    };
    Pair mine[2] = {{static_cast<double>(rank % 3), rank}, {-1.0 * rank, rank}};
    Pair best[2];
    MPI_Allreduce(mine, best, 2, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    EXPECT_EQ(best[0].value, std::min(size - 1, 2));
    EXPECT_EQ(best[0].index, std::min(size - 1, 2));
    EXPECT_EQ(best[1].value, 0);
    EXPECT_EQ(best[1].index, 0);
  });
}

TEST(Collective, WithoutDataAllOperationsComeToAnEnd) {
  Job job;
  job.ranks = 6;
  job.carries_data = false;
  run_job(job, [](int) {
    const TestType gaps(true);
    MPI_Bcast(nullptr, 1000, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(nullptr, 1000, gaps.get(), 0, MPI_COMM_WORLD);
    MPI_Alltoall(nullptr, 10, MPI_INT, nullptr, 10, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(nullptr, 10, gaps.get(), nullptr, 10, gaps.get(), MPI_COMM_WORLD);
    MPI_Allreduce(nullptr, nullptr, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(nullptr, nullptr, 1000, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
  });
}

// Of up to 64 bytes; programs decide by them.
TEST(Collective, FewBytesOfReductionsAndBroadcastsAreAlwaysCarried) {
  for (const int ranks : {2, 5, 8}) {
    Job job;
    job.ranks = ranks;
    job.carries_data = false;
    run_job(job, [ranks](int rank) {
      const long mine[8] = {rank, 1, 2, 3, 4, 5, 6, rank * rank};
      long all[8] = {}, before = -1, from_last[8] = {};
      MPI_Allreduce(mine, all, 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(all[0], ranks * (ranks - 1) / 2);
      EXPECT_EQ(all[6], 6 * ranks);
      long most[8] = {};
      MPI_Reduce(mine, most, 8, MPI_LONG, MPI_MAX, ranks - 1, MPI_COMM_WORLD);
      EXPECT_EQ(most[7], rank == ranks - 1 ? rank * rank : 0);
      MPI_Exscan(mine, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(before, rank == 0 ? -1 : rank * (rank - 1) / 2);
      if (rank == ranks - 1) std::copy(mine, mine + 8, from_last);
      MPI_Request request;
      MPI_Ibcast(from_last, 8, MPI_LONG, ranks - 1, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(from_last[7], (ranks - 1) * (ranks - 1));
      const TestType gaps(true);  // So that the data is packed.
      Ints place = gaps.buffer(1);
      if (rank == 0) gaps.at(place, 1) = 77;
      MPI_Bcast(place.data(), 1, gaps.get(), 0, MPI_COMM_WORLD);
      EXPECT_EQ(gaps.at(place, 1), 77);
      // More is not.
      std::vector<long> much(9, rank), sums(9, -1);
      MPI_Allreduce(much.data(), sums.data(), 9, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(sums[8], -1);
      // A program made for simulations alone has no buffers.
      MPI_Allreduce(nullptr, nullptr, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    });
  }
}

}  // namespace
}  // namespace weft::mpi
