// SPDX-License-Identifier: Apache-2.0
// Operations that move data: the result of every algorithm is checked byte by byte.
#include <algorithm>

#include <weft/base/test_seed.hpp>
#include <weft/message/coll/test_team.hpp>

namespace weft::coll {
namespace {

// Runs `body(trial, size)` for the algorithms of an operation over ranks, sizes and networks.
void for_each_trial(Operation operation, const std::vector<std::size_t>& sizes,
                    const std::function<void(const Trial&, std::size_t)>& body) {
  std::vector<Algorithm> all = {Algorithm::automatic};
  for (const AlgorithmEntry& entry : algorithms()) {
    if (entry.operation == operation) all.push_back(entry.algorithm);
  }
  std::uint64_t seed = test_seed();
  for (const Algorithm algorithm : all) {
    for (const int ranks : test_ranks) {
      for (const std::size_t size : sizes) {
        ++seed;
        const Trial trial{ranks, operation, algorithm, seed, (mix(seed) & 2) != 0};
        SCOPED_TRACE(trial.text() + ", size " + std::to_string(size));
        body(trial, size);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

std::vector<int> roots_of(int ranks) {
  if (ranks == 1) return {0};
  if (ranks == 2) return {0, 1};
  return {0, ranks / 2, ranks - 1};
}

TEST(Exchange, BarrierLetsNobodyThroughBeforeAllHaveCome) {
  for_each_trial(Operation::barrier, {0}, [](const Trial& trial, std::size_t) {
    int come = 0;
    run_trial(trial, [&](const Team& team) {
      ++come;
      finish(team, barrier(team));
      EXPECT_EQ(come, trial.ranks);
    });
  });
}

TEST(Exchange, BcastGivesAllTheRootsData) {
  for_each_trial(Operation::bcast, {0, 1, 40, 1000, 40000},
                 [](const Trial& trial, std::size_t size) {
                   if (size > 1000 && trial.ranks > 9) return;
                   for (const int root : roots_of(trial.ranks)) {
                     run_trial(trial, [&](const Team& team) {
                       Data data = team.rank == root ? data_of(root, 0, size) : Data(size);
                       finish(team, bcast(team, {data.data(), size, root}));
                       EXPECT_EQ(data, data_of(root, 0, size));
                     });
                   }
                 });
}

TEST(Exchange, GatherBringsBlocksToTheRootInOrder) {
  for_each_trial(Operation::gather, {0, 1, 24, 300}, [](const Trial& trial, std::size_t size) {
    for (const int root : roots_of(trial.ranks)) {
      const bool in_place = trial.in_place();
      run_trial(trial, [&](const Team& team) {
        const bool is_root = team.rank == root;
        const Data send = data_of(team.rank, 0, size);
        Data receive(is_root ? size * static_cast<std::size_t>(trial.ranks) : 0);
        if (is_root && in_place) {
          std::copy(send.begin(), send.end(),
                    receive.begin() + static_cast<std::ptrdiff_t>(size) * root);
        }
        finish(team, gather(team, {send.data(), receive.data(), size, root, is_root && in_place}));
        if (!is_root) return;
        Data expected;
        for (int i = 0; i < trial.ranks; ++i) append(expected, data_of(i, 0, size));
        EXPECT_EQ(receive, expected);
      });
    }
  });
}

TEST(Exchange, ScatterTakesBlocksFromTheRootInOrder) {
  for_each_trial(Operation::scatter, {0, 1, 24, 300}, [](const Trial& trial, std::size_t size) {
    for (const int root : roots_of(trial.ranks)) {
      const bool in_place = trial.in_place();
      run_trial(trial, [&](const Team& team) {
        const bool is_root = team.rank == root;
        Data send;
        for (int i = 0; is_root && i < trial.ranks; ++i) append(send, data_of(root, i, size));
        Data receive(size);
        finish(team, scatter(team, {send.data(), receive.data(), size, root, is_root && in_place}));
        if (is_root && in_place) return;
        EXPECT_EQ(receive, data_of(root, team.rank, size));
      });
    }
  });
}

TEST(Exchange, AllgatherGivesAllBlocksToAll) {
  for_each_trial(Operation::allgather, {0, 1, 24, 300}, [](const Trial& trial, std::size_t size) {
    const bool in_place = trial.in_place();
    run_trial(trial, [&](const Team& team) {
      const Data send = data_of(team.rank, 0, size);
      Data receive(size * static_cast<std::size_t>(trial.ranks));
      if (in_place) {
        std::copy(send.begin(), send.end(),
                  receive.begin() + static_cast<std::ptrdiff_t>(size) * team.rank);
      }
      finish(team, allgather(team, {in_place ? nullptr : send.data(), receive.data(), size, 0,
                                    in_place}));
      Data expected;
      for (int i = 0; i < trial.ranks; ++i) append(expected, data_of(i, 0, size));
      EXPECT_EQ(receive, expected);
    });
  });
}

TEST(Exchange, AlltoallTransposes) {
  for_each_trial(Operation::alltoall, {0, 1, 24, 300}, [](const Trial& trial, std::size_t size) {
    const bool in_place = trial.in_place();
    run_trial(trial, [&](const Team& team) {
      Data send;
      Data expected;
      for (int i = 0; i < trial.ranks; ++i) {
        append(send, data_of(team.rank, i, size));
        append(expected, data_of(i, team.rank, size));
      }
      Data receive = in_place ? send : Data(send.size());
      finish(team,
             alltoall(team, {in_place ? nullptr : send.data(), receive.data(), size, 0, in_place}));
      EXPECT_EQ(receive, expected);
    });
  });
}

// Blocks of different sizes, some empty, with gaps between them, from the last to the first.
struct Uneven {
  int ranks;
  std::size_t size;
  static std::size_t size_of(std::size_t size, int index) {
    return size * static_cast<std::size_t>(index % 4) / 2;
  }
  static Blocks::Block find(const void* arg, int index) {
    const auto* self = static_cast<const Uneven*>(arg);
    return {static_cast<std::ptrdiff_t>(2 * self->size + 3) * (self->ranks - 1 - index),
            size_of(self->size, index)};
  }
  Blocks blocks() const { return Blocks::described(&find, this); }
  std::size_t room() const { return (2 * size + 3) * static_cast<std::size_t>(ranks); }
};

void place(Data& data, const Uneven& uneven, int index, const Data& block) {
  std::copy(block.begin(), block.end(), data.begin() + uneven.blocks()[index].offset);
}

TEST(Exchange, GathervAndScattervKeepToTheirBlocks) {
  for_each_trial(Operation::gatherv, {0, 1, 24, 300}, [](const Trial& trial, std::size_t size) {
    const Uneven uneven{trial.ranks, size};
    for (const int root : roots_of(trial.ranks)) {
      run_trial(trial, [&](const Team& team) {
        const std::size_t mine = Uneven::size_of(size, team.rank);
        Data expected(uneven.room(), 9);
        for (int i = 0; i < trial.ranks; ++i) {
          place(expected, uneven, i, data_of(i, 0, Uneven::size_of(size, i)));
        }
        const Data send = data_of(team.rank, 0, mine);
        Data all(uneven.room(), 9);
        finish(team, gatherv(team, {send.data(), mine, all.data(), uneven.blocks(), root, false}));
        if (team.rank == root) {
          EXPECT_EQ(all, expected);
        }
        Data back(mine);
        finish(team,
               scatterv(team, {expected.data(), uneven.blocks(), back.data(), mine, root, false}));
        EXPECT_EQ(back, send);
      });
    }
  });
}

TEST(Exchange, AllgathervKeepsToItsBlocks) {
  for_each_trial(Operation::allgatherv, {0, 1, 24, 300}, [](const Trial& trial, std::size_t size) {
    const Uneven uneven{trial.ranks, size};
    const bool in_place = trial.in_place();
    run_trial(trial, [&](const Team& team) {
      const std::size_t mine = Uneven::size_of(size, team.rank);
      const Data send = data_of(team.rank, 0, mine);
      Data expected(uneven.room(), 9);
      for (int i = 0; i < trial.ranks; ++i) {
        place(expected, uneven, i, data_of(i, 0, Uneven::size_of(size, i)));
      }
      Data all(uneven.room(), 9);
      if (in_place) place(all, uneven, team.rank, send);
      finish(team, allgatherv(team, {send.data(), mine, all.data(), uneven.blocks(), 0, in_place}));
      EXPECT_EQ(all, expected);
    });
  });
}

// The block from a to b has ((a + b) % 3) * size bytes, so that the exchange can be in place.
struct Pairs {
  int rank;
  std::size_t size;
  static std::size_t size_of(std::size_t size, int a, int b) {
    return size * static_cast<std::size_t>((a + b) % 3);
  }
  static Blocks::Block find(const void* arg, int index) {
    const auto* self = static_cast<const Pairs*>(arg);
    return {static_cast<std::ptrdiff_t>(2 * self->size + 1) * index,
            size_of(self->size, self->rank, index)};
  }
  Blocks blocks() const { return Blocks::described(&find, this); }
};

TEST(Exchange, AlltoallvKeepsToItsBlocks) {
  for_each_trial(Operation::alltoallv, {0, 1, 24, 300}, [](const Trial& trial, std::size_t size) {
    const bool in_place = trial.in_place();
    run_trial(trial, [&](const Team& team) {
      const Pairs pairs{team.rank, size};
      Data send((2 * size + 1) * static_cast<std::size_t>(trial.ranks), 9);
      Data expected = send;
      for (int i = 0; i < trial.ranks; ++i) {
        const std::size_t block = Pairs::size_of(size, team.rank, i);
        const auto offset = pairs.blocks()[i].offset;
        const Data out = data_of(team.rank, i, block);
        const Data in = data_of(i, team.rank, block);
        std::copy(out.begin(), out.end(), send.begin() + offset);
        std::copy(in.begin(), in.end(), expected.begin() + offset);
      }
      Data receive = in_place ? send : Data(send.size(), 9);
      finish(team, alltoallv(team, {send.data(), pairs.blocks(), receive.data(), pairs.blocks(),
                                    in_place}));
      EXPECT_EQ(receive, expected);
    });
  });
}

}  // namespace
}  // namespace weft::coll
