// SPDX-License-Identifier: Apache-2.0
// Operations between two groups of different sizes.
#include <span>

#include <weft/base/test_seed.hpp>
#include <weft/message/coll/test_team.hpp>

namespace weft::coll {
namespace {

struct Side {
  bool left;
  int size, other;  // Sizes of the own and of the other group.
};

void add_bytes(const void* in, void* inout, std::int64_t count, void* /*arg*/) {
  for (std::int64_t i = 0; i < count; ++i) {
    static_cast<std::uint8_t*>(inout)[i] = static_cast<std::uint8_t>(
        static_cast<std::uint8_t*>(inout)[i] + static_cast<const std::uint8_t*>(in)[i]);
  }
}
constexpr Reducer sum{1, true, &add_bytes, nullptr};

// The first third of the ranks forms one group.
void run_bridge(int ranks, const std::function<void(const Bridge&, const Side&)>& body) {
  for (std::uint64_t seed = test_seed(); seed < test_seed() + 4; ++seed) {
    const Trial trial{ranks, Operation::barrier, Algorithm::automatic, seed, seed % 2 == 0};
    SCOPED_TRACE(trial.text());
    const int third = (ranks + 2) / 3;
    run_trial(trial, [&](const Team& team) {
      std::vector<RankId> all;
      for (int i = 0; i < ranks; ++i) all.push_back(team.members[i]);
      const std::span<const RankId> span(all);
      const auto cut_at = static_cast<std::size_t>(third);
      const mp::Members left = mp::Members::of(span.first(cut_at));
      const mp::Members right = mp::Members::of(span.subspan(cut_at));
      const bool is_left = team.rank < third;
      const Side side{is_left, is_left ? left.size() : right.size(),
                      is_left ? right.size() : left.size()};
      const Team local{team.m, 20, is_left ? team.rank : team.rank - third, is_left ? left : right,
                       3};
      const Bridge bridge{local, is_left ? right : left, 21};
      body(bridge, side);
    });
  }
}

// Ranks of the two sides have different data.
int speaker(bool left, int rank) {
  return left ? rank : 1000 + rank;
}

void finish(const Bridge& bridge, const mp::Task& task) {
  finish(bridge.local, task);
}

using Role = BridgeRoot::Role;
BridgeRoot root_of(const Bridge& bridge, const Side& side, int root) {
  if (!side.left) return {Role::across, root};
  return {bridge.local.rank == root ? Role::root : Role::beside, root};
}

TEST(BridgeOperations, RootedOnesServeTheOtherGroup) {
  for (const int ranks : {2, 3, 7, 12}) {
    run_bridge(ranks, [&](const Bridge& bridge, const Side& side) {
      const int root = (side.left ? side.size : side.other) - 1;
      const BridgeRoot seen = root_of(bridge, side, root);
      const bool is_root = seen.role == Role::root;
      const int rank = bridge.local.rank;
      Data data = is_root ? data_of(root, 0, 500) : Data(500);
      finish(bridge, bcast(bridge, {data.data(), data.size(), 0}, seen));
      if (!side.left || is_root) {
        EXPECT_EQ(data, data_of(root, 0, 500));
      }
      const Data mine = data_of(speaker(side.left, rank), 0, 30);
      Data expected;
      Data total(30);
      const int givers = side.left ? side.other : side.size;
      for (int i = 0; i < givers; ++i) {
        const Data more = data_of(speaker(false, i), 0, 30);
        append(expected, more);
        add_bytes(more.data(), total.data(), 30, nullptr);
      }
      Data all(30 * static_cast<std::size_t>(givers));
      finish(bridge,
             gatherv(bridge, {mine.data(), 30, all.data(), Blocks::equal(30), 0, false}, seen));
      if (is_root) {
        EXPECT_EQ(all, expected);
      }
      Data back(30);
      finish(bridge,
             scatterv(bridge, {all.data(), Blocks::equal(30), back.data(), 30, 0, false}, seen));
      if (!side.left) {
        EXPECT_EQ(back, mine);
      }
      Data reduced(30);
      finish(bridge, reduce(bridge, {mine.data(), reduced.data(), 30, sum, 0, false}, seen));
      if (is_root) {
        EXPECT_EQ(reduced, total);
      }
    });
  }
}

TEST(BridgeOperations, SymmetricOnesCross) {
  for (const int ranks : {2, 3, 7, 20}) {
    run_bridge(ranks, [&](const Bridge& bridge, const Side& side) {
      const int rank = bridge.local.rank;
      const auto others = static_cast<std::size_t>(side.other);
      const int self = speaker(side.left, rank);
      const auto other = [&](int i) { return speaker(!side.left, i); };
      finish(bridge, barrier(bridge));

      const Data mine = data_of(self, 0, 60);
      Data gathered(60 * others);
      finish(bridge,
             allgatherv(bridge, {mine.data(), 60, gathered.data(), Blocks::equal(60), 0, false}));
      Data expected;
      Data total(60);
      for (int i = 0; i < side.other; ++i) {
        const Data more = data_of(other(i), 0, 60);
        append(expected, more);
        add_bytes(more.data(), total.data(), 60, nullptr);
      }
      EXPECT_EQ(gathered, expected);

      Data reduced(60);
      finish(bridge, allreduce(bridge, {mine.data(), reduced.data(), 60, sum, 0, false}));
      EXPECT_EQ(reduced, total);

      Data out;
      Data crossed;
      for (int i = 0; i < side.other; ++i) {
        append(out, data_of(self, i, 300));
        append(crossed, data_of(other(i), rank, 300));
      }
      Data in(out.size());
      finish(bridge, alltoallv(bridge, {out.data(), Blocks::equal(300), in.data(),
                                        Blocks::equal(300), false}));
      EXPECT_EQ(in, crossed);
    });
  }
}

TEST(BridgeOperations, ReduceScatterSpreadsTheOthersResult) {
  for (const int ranks : {2, 3, 7, 12}) {
    run_bridge(ranks, [&](const Bridge& bridge, const Side& side) {
      const int all = side.size * side.other;  // Divisible by both sizes.
      const auto share = static_cast<std::size_t>(side.other);
      const Data mine =
          data_of(speaker(side.left, bridge.local.rank), 0, static_cast<std::size_t>(all));
      Data total(static_cast<std::size_t>(all));
      for (int i = 0; i < side.other; ++i) {
        const Data more = data_of(speaker(!side.left, i), 0, static_cast<std::size_t>(all));
        add_bytes(more.data(), total.data(), all, nullptr);
      }
      Data part(share);
      finish(bridge, reduce_scatter(bridge, BridgeReduceScatter{mine.data(), part.data(), all,
                                                                Blocks::equal(share), sum}));
      const auto first =
          total.begin() + static_cast<std::ptrdiff_t>(side.other) * bridge.local.rank;
      EXPECT_EQ(part, Data(first, first + side.other));
    });
  }
}

}  // namespace
}  // namespace weft::coll
