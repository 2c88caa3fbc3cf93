// SPDX-License-Identifier: Apache-2.0
// Shared windows: where the parts lie, that all ranks see them, and that every kind of
// synchronisation orders loads and stores.
#include "shared_window.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

constexpr int ranks = 4;

Job on_one_node(bool carries_data = true) {
  Job job;
  job.ranks = ranks;
  job.ranks_per_node = ranks;
  job.carries_data = carries_data;
  return job;
}

struct Query {
  MPI_Aint size = -1;
  int unit = -1;
  char* base = nullptr;
};
Query query(MPI_Win win, int rank) {
  Query found;
  EXPECT_EQ(MPI_Win_shared_query(win, rank, &found.size, &found.unit, &found.base), MPI_SUCCESS);
  return found;
}

class Info {
 public:
  Info() { MPI_Info_create(&info_); }
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  Info& set(const char* key, const char* value) {
    MPI_Info_set(info_, key, value);
    return *this;
  }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// --- Where the parts lie ---

struct Case {
  std::array<MPI_Aint, ranks> sizes;
  std::array<int, ranks> units;
};
const std::vector<Case> cases = {
    {{4, 4, 4, 4}, {4, 4, 4, 4}},          {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{12, 0, 5, 4096}, {4, 1, 8, 16}},     {{0, 0, 7, 0}, {1, 2, 3, 4}},
    {{0, 0, 0, 0}, {1, 1, 1, 9}},          {{100000, 1, 0, 64}, {8, 1, 8, 8}},
    {{0, 4095, 4096, 4097}, {1, 1, 1, 1}},
};

void check_parts(MPI_Win win, const Case& wanted, bool apart, MPI_Aint alignment) {
  const char* end = nullptr;
  int first = MPI_PROC_NULL;
  for (int i = 0; i < ranks; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const Query part = query(win, i);
    EXPECT_EQ(part.size, wanted.sizes[index]);
    EXPECT_EQ(part.unit, wanted.units[index]);
    if (first == MPI_PROC_NULL && part.size > 0) first = i;
    if (apart && part.size == 0) {
      EXPECT_EQ(part.base, nullptr);
      continue;
    }
    if (end != nullptr && !apart) {
      EXPECT_EQ(part.base, end);
    }
    if (end != nullptr) {
      EXPECT_GE(part.base, end);
    }
    if (apart || i == 0) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.base) % static_cast<std::size_t>(alignment),
                0U);
    }
    end = part.base + part.size;
  }
  const Query any = query(win, MPI_PROC_NULL);
  EXPECT_EQ(any.size, first == MPI_PROC_NULL ? 0 : query(win, first).size);
  if (first != MPI_PROC_NULL) {
    EXPECT_EQ(any.base, query(win, first).base);
    EXPECT_EQ(any.unit, query(win, first).unit);
  }
}

// Each rank fills the next one's part by stores; every byte must be there afterwards.
void check_contents(MPI_Win win, int rank) {
  const int next = (rank + 1) % ranks;
  const Query theirs = query(win, next), own = query(win, rank);
  MPI_Win_fence(0, win);
  if (theirs.size > 0) {
    std::memset(theirs.base, 'a' + rank, static_cast<std::size_t>(theirs.size));
  }
  MPI_Win_fence(0, win);
  const std::string expected(static_cast<std::size_t>(own.size),
                             static_cast<char>('a' + (rank + ranks - 1) % ranks));
  EXPECT_EQ(std::string(own.base, static_cast<std::size_t>(own.size)), expected);
  MPI_Win_fence(0, win);
}

TEST(SharedWindow, PartsLieAsTheStandardSays) {
  for (const Case& wanted : cases) {
    for (const bool apart : {false, true}) {
      for (const MPI_Aint alignment : {1, 256}) {
        run_job(on_one_node(), [&](int rank) {
          Info info;
          info.set("alloc_shared_noncontig", apart ? "true" : "false");
          if (alignment > 1) {
            info.set("mpi_minimum_memory_alignment", std::to_string(alignment).c_str());
          }
          const auto index = static_cast<std::size_t>(rank);
          char* base = nullptr;
          MPI_Win win = MPI_WIN_NULL;
          ASSERT_EQ(MPI_Win_allocate_shared(wanted.sizes[index], wanted.units[index], info.get(),
                                            MPI_COMM_WORLD, &base, &win),
                    MPI_SUCCESS);
          EXPECT_EQ(query(win, rank).base, base);
          check_parts(win, wanted, apart, alignment);
          check_contents(win, rank);
          MPI_Win_free(&win);
        });
      }
    }
  }
}

TEST(SharedWindow, SizesThatCannotBeAddressedDoNotFit) {
  SharedLayout layout;
  EXPECT_TRUE(layout.lay_out({{100, 1}, {200, 1}}, false, 1));
  EXPECT_EQ(layout.offsets[1] - layout.offsets[0], 100U);
  const std::uint64_t most = INT64_MAX;
  EXPECT_FALSE(layout.lay_out({{most, 1}}, false, 1));
  EXPECT_FALSE(layout.lay_out({{most / 2, 1}, {most / 2, 1}, {most / 2, 1}}, true, 1));
  EXPECT_FALSE(layout.lay_out({{most - 8192, 1}, {8192, 1}}, true, 4096));
}

TEST(SharedWindow, AttributesSayWhatItIs) {
  run_job(on_one_node(), [](int rank) {
    char* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate_shared(8 * (rank + 1), rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    int flag = 0;
    int* number = nullptr;
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
    EXPECT_EQ(*number, MPI_WIN_FLAVOR_SHARED);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag);
    EXPECT_EQ(*number, MPI_WIN_UNIFIED);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag);
    EXPECT_EQ(*number, rank + 1);
    void* attribute = nullptr;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &attribute, &flag);
    EXPECT_EQ(attribute, base);
    MPI_Aint* size = nullptr;
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    EXPECT_EQ(*size, 8 * (rank + 1));
    MPI_Win_free(&win);
  });
}

// --- Errors ---

TEST(SharedWindow, NeedsRanksOfOneNode) {
  Job job;
  job.ranks = 4;
  job.ranks_per_node = 2;
  run_job(job, [](int rank) {
    return_errors();
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    EXPECT_EQ(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
              MPI_ERR_RMA_SHARED);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    ASSERT_EQ(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, node, &base, &win), MPI_SUCCESS);
    *base = rank;
    MPI_Win_fence(0, win);
    const Query other = query(win, 1 - rank % 2);
    EXPECT_EQ(*reinterpret_cast<int*>(other.base), rank ^ 1);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
  });
}

TEST(SharedWindowDeathTest, SaysWhichRankIsElsewhere) {
  const auto body = [] {
    Job job;
    job.ranks = 4;
    job.ranks_per_node = 2;
    run_job(job, [](int) {
      int* base = nullptr;
      MPI_Win win = MPI_WIN_NULL;
      MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    });
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(MPI_ERR_RMA_SHARED),
              "rank . of the communicator is on node., this rank on node.; MPI_Comm_split_type");
}

TEST(SharedWindow, TooLargeIsNoMemoryForAll) {
  run_job(on_one_node(), [](int rank) {
    return_errors();
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    const MPI_Aint huge = MPI_Aint{1} << 61;
    for (const int greedy : {0, 2}) {
      const MPI_Aint size = rank == greedy ? huge : 16;
      EXPECT_EQ(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_NO_MEM);
      EXPECT_EQ(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_NO_MEM);
    }
    EXPECT_EQ(MPI_Win_allocate_shared(huge, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
              MPI_ERR_NO_MEM);
    EXPECT_EQ(win, MPI_WIN_NULL);
    ASSERT_EQ(MPI_Win_allocate_shared(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
              MPI_SUCCESS);
    MPI_Win_free(&win);
  });
}

TEST(SharedWindow, BadArguments) {
  run_job(on_one_node(), [](int) {
    return_errors();
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    const auto allocate = [&](MPI_Aint size, int unit, void* out, MPI_Win* to) {
      return MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, out, to);
    };
    EXPECT_EQ(allocate(-1, 1, &base, &win), MPI_ERR_SIZE);
    EXPECT_EQ(allocate(8, 0, &base, &win), MPI_ERR_DISP);
    EXPECT_EQ(allocate(8, 1, nullptr, &win), MPI_ERR_ARG);
    EXPECT_EQ(allocate(8, 1, &base, nullptr), MPI_ERR_ARG);
    ASSERT_EQ(allocate(8, 1, &base, &win), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Aint size = 0;
    int unit = 0;
    EXPECT_EQ(MPI_Win_shared_query(win, ranks, &size, &unit, &base), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Win_shared_query(win, -7, &size, &unit, &base), MPI_ERR_RANK);
    MPI_Win_fence(0, win);
    const std::array<char, 9> data = {};
    EXPECT_EQ(MPI_Put(data.data(), 9, MPI_CHAR, 1, 0, 9, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
    EXPECT_EQ(MPI_Put(data.data(), 1, MPI_CHAR, 1, 8, 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
    EXPECT_EQ(MPI_Put(data.data(), 1, MPI_CHAR, 1, 7, 1, MPI_CHAR, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
  });
}

// Memory of other windows is reached by its own rank alone.
TEST(SharedWindow, QueryOfOtherFlavors) {
  run_job(on_one_node(), [](int rank) {
    char* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate(16, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < ranks; ++i) {
      EXPECT_EQ(query(win, i).size, i == rank ? 16 : 0);
      EXPECT_EQ(query(win, i).base, i == rank ? base : nullptr);
    }
    EXPECT_EQ(query(win, MPI_PROC_NULL).base, base);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Aint size = 0;
    int unit = 0;
    EXPECT_EQ(MPI_Win_shared_query(win, rank, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&win);
  });
}

// --- Synchronisation ---

struct IntPart {
  explicit IntPart(int count) {
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(sizeof(int)) * count, sizeof(int), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &own, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  }
  ~IntPart() { MPI_Win_free(&win); }
  IntPart(const IntPart&) = delete;
  IntPart& operator=(const IntPart&) = delete;
  volatile int* of(int rank) const {
    return reinterpret_cast<volatile int*>(query(win, rank).base);
  }

  int* own = nullptr;
  MPI_Win win = MPI_WIN_NULL;
};

TEST(SharedWindow, ExclusiveLocksGuardLoadsAndStores) {
  run_job(on_one_node(), [](int rank) {
    const IntPart part(1);
    volatile int* counter = part.of(2);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, part.win), MPI_SUCCESS);
      const int seen = *counter;
      MPI_Win_sync(part.win);  // Others have their turn, but not the lock.
      *counter = seen + 1;
      MPI_Win_unlock(2, part.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, part.win);
    EXPECT_EQ(*counter, 20 * ranks);
    MPI_Win_unlock_all(part.win);
    (void)rank;
  });
}

TEST(SharedWindow, LockAllKeepsExclusiveLocksOut) {
  run_job(on_one_node(), [](int rank) {
    const IntPart part(2);
    volatile int* value = part.of(0);
    if (rank == 0) {
      MPI_Win_lock_all(0, part.win);
      MPI_Barrier(MPI_COMM_WORLD);
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(value[0], 0);
        MPI_Win_sync(part.win);
      }
      MPI_Win_unlock_all(part.win);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_lock(rank == 1 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, part.win);
      if (rank == 1) value[0] = 1;
      MPI_Win_unlock(0, part.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(value[0], 1);
  });
}

TEST(SharedWindow, FlagsInMemoryPassATurn) {
  run_job(on_one_node(), [](int rank) {
    const IntPart part(2);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, part.win);
    volatile int* turn = part.of(0);
    for (int round = 0; round < 5; ++round) {
      while (turn[0] != round * ranks + rank) MPI_Win_sync(part.win);
      turn[1] = turn[1] + rank;
      MPI_Win_sync(part.win);
      turn[0] = turn[0] + 1;
      MPI_Win_sync(part.win);
    }
    while (turn[0] != 5 * ranks) MPI_Win_sync(part.win);
    EXPECT_EQ(turn[1], 5 * (0 + 1 + 2 + 3));
    MPI_Win_unlock_all(part.win);
  });
}

TEST(SharedWindow, PostStartCompleteWaitOrderStores) {
  run_job(on_one_node(), [](int rank) {
    const IntPart part(1);
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Group all, to, from;
    MPI_Win_get_group(part.win, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    for (int round = 0; round < 4; ++round) {
      MPI_Win_post(from, 0, part.win);
      MPI_Win_start(to, 0, part.win);
      *part.of(right) = rank * 10 + round;
      MPI_Win_complete(part.win);
      int flag = 0;
      while (round % 2 == 0 && !flag) MPI_Win_test(part.win, &flag);
      if (!flag) MPI_Win_wait(part.win);
      EXPECT_EQ(*part.own, left * 10 + round);
    }
    for (MPI_Group* group : {&all, &to, &from}) MPI_Group_free(group);
  });
}

TEST(SharedWindow, AccessesAreSeenByLoads) {
  run_job(on_one_node(), [](int rank) {
    const IntPart part(10);
    MPI_Win_lock_all(0, part.win);
    const int one = 1, next = (rank + 1) % ranks;
    for (int i = 0; i < 10; ++i) {
      MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, part.win);
      int ticket = -1;
      MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 1, MPI_SUM, part.win);
      EXPECT_GE(ticket, 0);
      EXPECT_LT(ticket, 10 * ranks);
    }
    int zero = 0, mine = rank + 1, found = -1;
    MPI_Compare_and_swap(&mine, &zero, &found, MPI_INT, 0, 2, part.win);
    EXPECT_EQ(*(part.of(0) + 2), found == 0 ? mine : found);
    MPI_Put(&mine, 1, MPI_INT, next, 3, 1, MPI_INT, part.win);
    EXPECT_EQ(part.of(next)[3], mine);
    MPI_Request request = MPI_REQUEST_NULL;
    int got = -1;
    MPI_Rget(&got, 1, MPI_INT, next, 3, 1, MPI_INT, part.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(got, mine);
    MPI_Win_flush_all(part.win);
    MPI_Win_unlock_all(part.win);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(part.of(0)[0], 10 * ranks);
    EXPECT_EQ(part.of(0)[1], 10 * ranks);
  });
}

TEST(SharedWindow, AccessesOfTypesWithGapsAndUnits) {
  run_job(on_one_node(), [](int rank) {
    short* own = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    // Rank r has units of r + 1 shorts.
    MPI_Win_allocate_shared(60 * sizeof(short), static_cast<int>(sizeof(short)) * (rank + 1),
                            MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Type_vector(5, 1, 3, MPI_SHORT, &column);
    MPI_Type_commit(&column);
    const std::array<short, 5> data = {1, 2, 3, 4, 5};
    MPI_Win_fence(0, win);
    if (rank == 0) {
      for (int to = 0; to < ranks; ++to) {
        MPI_Put(data.data(), 5, MPI_SHORT, to, 2, 1, column, win);
        MPI_Accumulate(data.data(), 5, MPI_SHORT, to, 2, 1, column, MPI_SUM, win);
      }
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(own[2 * (rank + 1) + 3 * i], 2 * (i + 1));
    std::array<short, 15> back = {};
    MPI_Get(back.data(), 1, column, 3, 2, 1, column, win);
    MPI_Win_fence(0, win);
    EXPECT_EQ(back[12], 10);
    MPI_Type_free(&column);
    MPI_Win_free(&win);
  });
}

// Only the data of accesses is missing then: memory is shared as ever.
TEST(SharedWindow, StoresAreSeenWhereDataIsNotCarried) {
  run_job(on_one_node(false), [](int rank) {
    const IntPart part(1);
    *part.of((rank + 1) % ranks) = rank;
    MPI_Win_fence(0, part.win);
    EXPECT_EQ(*part.own, (rank + ranks - 1) % ranks);
    const int one = 1;
    EXPECT_EQ(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, part.win), MPI_SUCCESS);
    MPI_Win_fence(0, part.win);
  });
}

TEST(SharedWindow, OfOneRankAlone) {
  run_job({1}, [](int) {
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win),
              MPI_SUCCESS);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    *base = 3;
    MPI_Win_unlock(0, win);
    EXPECT_EQ(*reinterpret_cast<int*>(query(win, MPI_PROC_NULL).base), 3);
    MPI_Win_free(&win);
  });
}

}  // namespace
}  // namespace weft::mpi
