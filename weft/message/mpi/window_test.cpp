// SPDX-License-Identifier: Apache-2.0
// One-sided communication (RMA).
#include "window.hpp"

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;

struct IntWindow {
  explicit IntWindow(std::size_t count, int value = -1) : memory(count, value) {
    MPI_Win_create(memory.data(), static_cast<MPI_Aint>(count * sizeof(int)), sizeof(int),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  }
  ~IntWindow() { MPI_Win_free(&win); }
  IntWindow(const IntWindow&) = delete;
  IntWindow& operator=(const IntWindow&) = delete;

  Ints memory;
  MPI_Win win = MPI_WIN_NULL;
};

TEST(Window, PutAndGetBetweenFences) {
  run_jobs(5, [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    for (const int count : {1, 300}) {
      IntWindow window(static_cast<std::size_t>(count * size));
      Ints mine(static_cast<std::size_t>(count), rank);
      MPI_Win_fence(0, window.win);
      for (int to = 0; to < size; ++to) {
        EXPECT_EQ(
            MPI_Put(mine.data(), count, MPI_INT, to, rank * count, count, MPI_INT, window.win),
            MPI_SUCCESS);
      }
      MPI_Win_fence(0, window.win);
      for (int i = 0; i < count * size; ++i) {
        ASSERT_EQ(window.memory[static_cast<std::size_t>(i)], i / count);
      }
      Ints theirs(static_cast<std::size_t>(count), -1);
      const int next = (rank + 1) % size;
      MPI_Get(theirs.data(), count, MPI_INT, next, next * count, count, MPI_INT, window.win);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
      EXPECT_EQ(theirs, Ints(static_cast<std::size_t>(count), next));
    }
  });
}

TEST(Window, AccumulateSumsOverAll) {
  run_jobs(6, [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    IntWindow window(40, 0);
    Ints ones(40);
    std::iota(ones.begin(), ones.end(), rank);
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(ones.data(), 40, MPI_INT, 2, 0, 40, MPI_INT, MPI_SUM, window.win);
    MPI_Win_fence(0, window.win);
    if (rank == 2) {
      for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(window.memory[static_cast<std::size_t>(i)], i * size + size * (size - 1) / 2);
      }
    }
    MPI_Accumulate(&rank, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_MAX, window.win);
    MPI_Win_fence(0, window.win);
    if (rank == 0) {
      EXPECT_EQ(window.memory[3], size - 1);
    }
  });
}

TEST(Window, PairsWithGapsAccumulate) {
  run_jobs(4, [](int rank) {
    struct Pair {
      double value;
      int index;
    };
    std::array<Pair, 2> memory = {Pair{1e9, -1}, Pair{1e9, -1}};
    MPI_Win win;
    MPI_Win_create(memory.data(), sizeof memory, sizeof(Pair), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    const std::array<Pair, 2> mine = {Pair{10.0 - rank, rank}, Pair{10.0 + rank, rank}};
    MPI_Accumulate(mine.data(), 2, MPI_DOUBLE_INT, 0, 0, 2, MPI_DOUBLE_INT, MPI_MINLOC, win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
      EXPECT_EQ(memory[0].value, 7);
      EXPECT_EQ(memory[0].index, 3);
      EXPECT_EQ(memory[1].value, 10);
      EXPECT_EQ(memory[1].index, 0);
    }
    MPI_Win_free(&win);
  });
}

TEST(Window, TypesWithGapsOnBothSides) {
  run_jobs(2, [](int rank) {
    MPI_Datatype column;
    MPI_Type_vector(20, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    IntWindow window(60);
    Ints mine(60);
    std::iota(mine.begin(), mine.end(), 100 * rank);
    MPI_Win_fence(0, window.win);
    MPI_Put(mine.data(), 20, MPI_INT, 1 - rank, 1, 1, column, window.win);
    MPI_Win_fence(0, window.win);
    for (int i = 0; i < 60; ++i) {
      EXPECT_EQ(window.memory[static_cast<std::size_t>(i)],
                i % 3 == 1 ? 100 * (1 - rank) + i / 3 : -1);
    }
    Ints back(60, -2);
    MPI_Get(back.data(), 1, column, 1 - rank, 1, 1, column, window.win);
    MPI_Type_free(&column);
    MPI_Win_fence(0, window.win);
    for (int i = 0; i < 58; ++i) {
      EXPECT_EQ(back[static_cast<std::size_t>(i)], i % 3 == 0 ? 100 * rank + i / 3 : -2);
    }
  });
}

TEST(Window, PostStartCompleteWait) {
  run_jobs(5, [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    IntWindow window(200);
    MPI_Group all, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    for (int round = 0; round < 4; ++round) {
      const Ints mine(200, rank * 10 + round);
      MPI_Win_post(from, 0, window.win);
      MPI_Win_start(to, 0, window.win);
      EXPECT_EQ(MPI_Put(mine.data(), 200, MPI_INT, right, 0, 200, MPI_INT, window.win),
                MPI_SUCCESS);
      if (size > 2) {
        EXPECT_EQ(MPI_Put(mine.data(), 1, MPI_INT, left, 0, 1, MPI_INT, window.win),
                  MPI_ERR_RMA_SYNC);
      }
      MPI_Win_complete(window.win);
      if (round % 2 == 0) {
        MPI_Win_wait(window.win);
      } else {
        int flag = 0;
        while (!flag) MPI_Win_test(window.win, &flag);
      }
      EXPECT_EQ(window.memory, Ints(200, left * 10 + round));
    }
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
  });
}

TEST(Window, ExclusiveLocksKeepOthersOut) {
  run_jobs(6, [](int rank) {
    IntWindow window(1, 0);
    const int size = size_of_comm(MPI_COMM_WORLD);
    for (int i = 0; i < 5; ++i) {
      int value = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
      MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window.win);
      MPI_Win_flush(0, window.win);
      ++value;
      MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window.win);
      MPI_Win_unlock(0, window.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
      EXPECT_EQ(window.memory[0], 5 * size);
      MPI_Win_unlock(0, window.win);
    }
  });
}

TEST(Window, CountersWithoutExclusion) {
  run_jobs(6, [](int) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    IntWindow window(2, 0);
    MPI_Win_lock_all(0, window.win);
    const int one = 1;
    Ints tickets;
    for (int i = 0; i < 4; ++i) {
      int before = -1;
      MPI_Fetch_and_op(&one, &before, MPI_INT, 1, 0, MPI_SUM, window.win);
      MPI_Win_flush(1, window.win);
      EXPECT_GE(before, 0);
      EXPECT_LT(before, 4 * size);
      if (!tickets.empty()) {
        EXPECT_GT(before, tickets.back());
      }
      tickets.push_back(before);
    }
    // Exactly one of them swaps the zero.
    int expected = 0, mine = rank_in(MPI_COMM_WORLD) + 1, found = -1;
    MPI_Compare_and_swap(&mine, &expected, &found, MPI_INT, 0, 1, window.win);
    MPI_Win_flush_all(window.win);
    int winner = -1;
    MPI_Fetch_and_op(nullptr, &winner, MPI_INT, 0, 1, MPI_NO_OP, window.win);
    MPI_Win_flush_local_all(window.win);
    EXPECT_EQ(winner, found == 0 ? mine : found);
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) == 1) {
      EXPECT_EQ(window.memory[0], 4 * size);
    }
  });
}

TEST(Window, Requests) {
  run_jobs(3, [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD), next = (rank + 1) % size;
    IntWindow window(300, rank);
    MPI_Win_lock_all(0, window.win);
    Ints got(100, -1), old(100, -1);
    const Ints mine(100, 50 + rank);
    std::array<MPI_Request, 4> requests;
    MPI_Rget(got.data(), 100, MPI_INT, next, 0, 100, MPI_INT, window.win, &requests[0]);
    MPI_Rput(mine.data(), 100, MPI_INT, next, 100, 100, MPI_INT, window.win, &requests[1]);
    MPI_Rget_accumulate(mine.data(), 100, MPI_INT, old.data(), 100, MPI_INT, next, 200, 100,
                        MPI_INT, MPI_SUM, window.win, &requests[2]);
    MPI_Rput(mine.data(), 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win, &requests[3]);
    EXPECT_EQ(MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(got, Ints(100, next));
    EXPECT_EQ(old, Ints(100, next));
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    const int before = (rank + size - 1) % size;
    EXPECT_EQ(window.memory[150], 50 + before);
    EXPECT_EQ(window.memory[250], 50 + before + rank);
  });
}

TEST(Window, AllocatedSharedAndDynamic) {
  Job job;
  job.ranks = 4;
  job.ranks_per_node = 4;
  run_job(job, [](int rank) {
    int* base = nullptr;
    MPI_Win win;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % 4, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    EXPECT_EQ(*base, (rank + 3) % 4);
    MPI_Win_free(&win);
    EXPECT_EQ(win, MPI_WIN_NULL);

    MPI_Win_allocate_shared(3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &win);
    base[2] = rank * rank;
    MPI_Win_fence(0, win);
    MPI_Aint size = 0;
    int unit = 0;
    int* theirs = nullptr;
    EXPECT_EQ(MPI_Win_shared_query(win, (rank + 1) % 4, &size, &unit, &theirs), MPI_SUCCESS);
    EXPECT_EQ(size, 12);
    EXPECT_EQ(unit, 4);
    EXPECT_EQ(theirs[2], ((rank + 1) % 4) * ((rank + 1) % 4));
    MPI_Win_free(&win);

    int cell = -1;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, &cell, sizeof cell);
    MPI_Aint here, there;
    MPI_Get_address(&cell, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, (rank + 3) % 4, 0, &there, 1, MPI_AINT, (rank + 1) % 4, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % 4, there, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    EXPECT_EQ(cell, (rank + 3) % 4);
    MPI_Win_detach(win, &cell);
    MPI_Win_free(&win);
  });
}

// One rank returns from the allocation before the others, and accesses their memory at once.
TEST(Window, AllocatedMemoryIsThereForTheFirst) {
  run_jobs(5, [](int rank) {
    const int size = size_of_comm(MPI_COMM_WORLD);
    for (int round = 0; round < 8; ++round) {
      int* memory = nullptr;
      MPI_Win win = MPI_WIN_NULL;
      MPI_Win_allocate(static_cast<MPI_Aint>(sizeof(int)) * size, sizeof(int), MPI_INFO_NULL,
                       MPI_COMM_WORLD, &memory, &win);
      MPI_Win_lock_all(0, win);
      for (int to = 0; to < size; ++to) {
        EXPECT_EQ(MPI_Put(&round, 1, MPI_INT, to, rank, 1, MPI_INT, win), MPI_SUCCESS);
      }
      MPI_Win_unlock_all(win);
      MPI_Barrier(MPI_COMM_WORLD);
      for (int from = 0; from < size; ++from) EXPECT_EQ(memory[from], round);
      MPI_Win_free(&win);
    }
  });
}

TEST(Window, AttributesAndErrors) {
  run_jobs(2, [](int rank) {
    return_errors();
    IntWindow window(10);
    int flag = 0, value = 0;
    void* base = nullptr;
    MPI_Win_get_attr(window.win, MPI_WIN_BASE, &base, &flag);
    EXPECT_EQ(base, window.memory.data());
    MPI_Aint* size = nullptr;
    MPI_Win_get_attr(window.win, MPI_WIN_SIZE, &size, &flag);
    EXPECT_EQ(*size, 40);
    int* flavor = nullptr;
    MPI_Win_get_attr(window.win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    EXPECT_EQ(*flavor, MPI_WIN_FLAVOR_CREATE);
    const MPI_Win win = window.win;
    EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(MPI_Win_lock(7, 0, 0, win), MPI_ERR_LOCKTYPE);
    EXPECT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    MPI_Win_fence(0, win);
    EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    EXPECT_EQ(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    EXPECT_EQ(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win), MPI_SUCCESS);
    int out = 0;
    EXPECT_EQ(MPI_Compare_and_swap(&value, &value, &out, MPI_FLOAT, 0, 0, win), MPI_ERR_TYPE);
    EXPECT_EQ(MPI_Compare_and_swap(&value, &value, &out, MPI_2INT, 0, 0, win), MPI_ERR_TYPE);
    MPI_Win_fence(0, win);
    MPI_Win made;
    EXPECT_EQ(MPI_Win_create(nullptr, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_SIZE);
    EXPECT_EQ(MPI_Win_create(nullptr, 0, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_DISP);
    (void)rank;
  });
}

TEST(Window, IsNotFreedDuringAccess) {
  run_jobs(2, [](int rank) {
    return_errors();
    const IntWindow window(1);
    MPI_Win copy = window.win;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win);
    EXPECT_EQ(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(rank, window.win);
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Win_get_group(window.win, &all);
    MPI_Win_post(all, 0, window.win);
    EXPECT_EQ(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    MPI_Win_start(all, 0, window.win);
    EXPECT_EQ(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(window.win);
    MPI_Win_wait(window.win);
    EXPECT_EQ(copy, window.win);
    MPI_Group_free(&all);
  });
}

// The addresses of the parts of a shared window of 12, 0 and 4 bytes.
std::array<char*, 3> shared_parts(int rank, const char* noncontiguous) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous);
  constexpr std::array<MPI_Aint, 3> sizes = {12, 0, 4};
  void* own = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate_shared(sizes[static_cast<std::size_t>(rank)], 4, info, MPI_COMM_WORLD, &own,
                          &win);
  std::array<char*, 3> bases = {};
  for (int i = 0; i < 3; ++i) {
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(win, i, &size, &unit, &bases[static_cast<std::size_t>(i)]);
  }
  MPI_Info_free(&info);
  MPI_Win_free(&win);
  return bases;
}

TEST(Window, SharedPartsTouchUnlessTheyNeedNot) {
  Job job;
  job.ranks = 3;
  job.ranks_per_node = 3;
  run_job(job, [](int rank) {
    const std::array<char*, 3> near = shared_parts(rank, "false");
    EXPECT_EQ(near[1] - near[0], 12);
    EXPECT_EQ(near[2] - near[0], 12);
    const std::array<char*, 3> apart = shared_parts(rank, "true");
    EXPECT_EQ(apart[1], nullptr);
    EXPECT_EQ(apart[2] - apart[0], 64);
  });
}

std::string hint(MPI_Win win, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Win_get_info(win, &info);
  char value[64] = {};
  int length = sizeof value;
  int found = 0;
  MPI_Info_get_string(info, key, &length, value, &found);
  MPI_Info_free(&info);
  return value;
}

TEST(Window, HintsBeginWithTheStandardsValues) {
  run_job({}, [](int) {
    const IntWindow window(1);
    EXPECT_EQ(hint(window.win, "no_locks"), "false");
    EXPECT_EQ(hint(window.win, "accumulate_ordering"), "rar,raw,war,waw");
    EXPECT_EQ(hint(window.win, "accumulate_ops"), "same_op_no_op");
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Win_set_info(window.win, info);
    EXPECT_EQ(hint(window.win, "accumulate_ordering"), "none");
    MPI_Info_free(&info);
  });
}

TEST(Window, EmptyAccessesTakeAnyType) {
  run_job({}, [](int) {
    const IntWindow window(1);
    MPI_Datatype empty = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Win_fence(0, window.win);
    for (const MPI_Datatype type : {empty, MPI_INT, MPI_DOUBLE}) {
      const int count = type == empty ? 3 : 0;
      int in = 1;
      int out = 2;
      EXPECT_EQ(MPI_Accumulate(&in, 0, MPI_INT, 1, 0, count, type, MPI_SUM, window.win),
                MPI_SUCCESS);
      EXPECT_EQ(MPI_Get_accumulate(nullptr, 0, MPI_INT, &out, count, type, 1, 0, count, type,
                                   MPI_SUM, window.win),
                MPI_SUCCESS);
      EXPECT_EQ(out, 2);
    }
    MPI_Win_fence(0, window.win);
    EXPECT_EQ(window.memory[0], -1);
    MPI_Type_free(&empty);
  });
}

TEST(Window, ManyAccessesInOneEpoch) {
  run_job({}, [](int rank) {
    constexpr int count = 2000;
    const IntWindow window(1, 0);
    const int one = 1;
    MPI_Win_fence(0, window.win);
    for (int i = 0; i < count; ++i) {
      MPI_Accumulate(&one, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_SUM, window.win);
    }
    MPI_Win_fence(0, window.win);
    EXPECT_EQ(window.memory[0], count);
  });
}

TEST(Window, WithoutData) {
  Job job;
  job.ranks = 3;
  job.carries_data = false;
  run_job(job, [](int rank) {
    IntWindow window(100, rank);
    Ints mine(100, 7);
    MPI_Win_fence(0, window.win);
    MPI_Put(mine.data(), 100, MPI_INT, (rank + 1) % 3, 0, 100, MPI_INT, window.win);
    MPI_Accumulate(mine.data(), 100, MPI_INT, 0, 0, 100, MPI_INT, MPI_SUM, window.win);
    MPI_Get(mine.data(), 100, MPI_INT, 0, 0, 100, MPI_INT, window.win);
    MPI_Win_fence(0, window.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
    MPI_Win_unlock(0, window.win);
    EXPECT_EQ(window.memory, Ints(100, rank));
    EXPECT_EQ(mine, Ints(100, 7));
  });
}

TEST(WindowDeathTest, OutsideOfTheWindow) {
  const auto reach_out = [] {
    run_job({2}, [](int rank) {
      IntWindow window(4);
      MPI_Win_fence(0, window.win);
      if (rank == 0) MPI_Put(&rank, 1, MPI_INT, 1, 4, 1, MPI_INT, window.win);
      MPI_Win_fence(0, window.win);
    });
  };
  EXPECT_EXIT(reach_out(), testing::ExitedWithCode(MPI_ERR_RMA_RANGE),
              "rank 1: an access by another rank lies outside of the window of 16 bytes");
}

}  // namespace
}  // namespace weft::mpi
