// SPDX-License-Identifier: Apache-2.0
// How many messages and bytes the algorithms send, also without data, and concurrent operations.
#include <bit>

#include <weft/base/test_seed.hpp>
#include <weft/message/coll/test_team.hpp>

namespace weft::coll {
namespace {

int rounds(int ranks) {
  int count = 0;
  while ((1 << count) < ranks) ++count;
  return count;
}

void add_bytes(const void* in, void* inout, std::int64_t count, void* /*arg*/) {
  for (std::int64_t i = 0; i < count; ++i) {
    static_cast<std::uint8_t*>(inout)[i] = static_cast<std::uint8_t>(
        static_cast<std::uint8_t*>(inout)[i] + static_cast<const std::uint8_t*>(in)[i]);
  }
}
constexpr Reducer sum{1, true, &add_bytes, nullptr};

// Starts the operation with blocks of `size` bytes.
mp::Task start(Operation operation, const Team& team, Data& send, Data& receive) {
  const auto p = static_cast<std::size_t>(team.members.size());
  const std::size_t block = send.size() / p;
  const auto count = static_cast<std::int64_t>(send.size());
  const Blocks blocks = Blocks::equal(block);
  const Reduce whole{send.data(), receive.data(), count, sum, 0, false};
  const Exchange exchange{send.data(), receive.data(), block, 0, false};
  switch (operation) {
    case Operation::barrier:
      return barrier(team);
    case Operation::bcast:
      return bcast(team, {send.data(), send.size(), 0});
    case Operation::reduce:
      return reduce(team, whole);
    case Operation::allreduce:
      return allreduce(team, whole);
    case Operation::scan:
      return scan(team, whole);
    case Operation::exscan:
      return exscan(team, whole);
    case Operation::gather:
      return gather(team, exchange);
    case Operation::scatter:
      return scatter(team, exchange);
    case Operation::allgather:
      return allgather(team, exchange);
    case Operation::alltoall:
      return alltoall(team, exchange);
    case Operation::gatherv:
      return gatherv(team, {send.data(), block, receive.data(), blocks, 0, false});
    case Operation::scatterv:
      return scatterv(team, {send.data(), blocks, receive.data(), block, 0, false});
    case Operation::allgatherv:
      return allgatherv(team, {send.data(), block, receive.data(), blocks, 0, false});
    case Operation::alltoallv:
      return alltoallv(team, {send.data(), blocks, receive.data(), blocks, false});
    case Operation::reduce_scatter:
      return reduce_scatter(team, {send.data(), receive.data(), blocks, sum, false});
    case Operation::reduce_scatter_block:
      break;
  }
  return reduce_scatter_block(
      team, {send.data(), receive.data(), static_cast<std::int64_t>(block), sum, 0, false});
}

Sent send_all(Operation operation, Algorithm algorithm, int ranks, std::size_t block) {
  Trial trial{ranks, operation, algorithm};
  trial.eager_limit = 1 << 20;
  const std::size_t size = block * static_cast<std::size_t>(ranks);
  return run_trial(trial, [&](const Team& team) {
    Data send(size);
    Data receive(size);
    finish(team, start(operation, team, send, receive));
  });
}

TEST(Traffic, MessagesMatchClosedForms) {
  using O = Operation;
  using A = Algorithm;
  for (const int p : {2, 3, 5, 8, 12, 16, 31}) {
    SCOPED_TRACE(p);
    const auto n = static_cast<std::uint64_t>(p);
    const auto log = static_cast<std::uint64_t>(rounds(p));
    const bool power = std::has_single_bit(n);
    for (const std::uint64_t each : send_all(O::alltoall, A::bruck, p, 4).by_rank) {
      EXPECT_EQ(each, log);
    }
    for (const std::uint64_t each : send_all(O::allgather, A::bruck, p, 4).by_rank) {
      EXPECT_EQ(each, log);
    }
    for (const std::uint64_t each : send_all(O::barrier, A::dissemination, p, 4).by_rank) {
      EXPECT_EQ(each, log);
    }
    EXPECT_EQ(send_all(O::barrier, A::tree, p, 4).messages, 2 * (n - 1));
    EXPECT_EQ(send_all(O::barrier, A::linear, p, 4).messages, 2 * (n - 1));
    EXPECT_EQ(send_all(O::bcast, A::binomial, p, 4).messages, n - 1);
    EXPECT_EQ(send_all(O::bcast, A::linear, p, 4).messages, n - 1);
    EXPECT_EQ(send_all(O::bcast, A::scatter_allgather, p, 4).messages, (n - 1) + n * (n - 1));
    EXPECT_EQ(send_all(O::reduce, A::binomial, p, 4).messages, n - 1);
    EXPECT_EQ(send_all(O::gather, A::binomial, p, 4).messages, n - 1);
    EXPECT_EQ(send_all(O::scatter, A::binomial, p, 4).messages, n - 1);
    EXPECT_EQ(send_all(O::alltoall, A::pairwise, p, 4).messages, n * (n - 1));
    EXPECT_EQ(send_all(O::allreduce, A::ring, p, 4).messages, 2 * n * (n - 1));
    EXPECT_EQ(send_all(O::allreduce, A::ring, p, 4).bytes, 8 * n * (n - 1));
    EXPECT_EQ(send_all(O::allgather, A::bucket, p, 4).bytes, 4 * n * (n - 1));
    EXPECT_EQ(send_all(O::reduce_scatter_block, A::bucket, p, 4).bytes, 4 * n * (n - 1));
    EXPECT_EQ(send_all(O::reduce_scatter_block, A::pairwise, p, 4).bytes, 4 * n * (n - 1));
    EXPECT_EQ(send_all(O::scan, A::linear, p, 4).messages, n - 1);
    if (!power) continue;
    EXPECT_EQ(send_all(O::allreduce, A::recursive_doubling, p, 4).messages, n * log);
    EXPECT_EQ(send_all(O::allreduce, A::rabenseifner, p, 4).messages, 2 * n * log);
    EXPECT_EQ(send_all(O::allreduce, A::rabenseifner, p, 4).bytes, 8 * n * (n - 1));
    EXPECT_EQ(send_all(O::allgather, A::recursive_doubling, p, 4).messages, n * log);
    EXPECT_EQ(send_all(O::reduce_scatter_block, A::recursive_halving, p, 4).bytes, 4 * n * (n - 1));
  }
}

// Every algorithm, without buffers.
TEST(Traffic, WithoutDataTheSameMessagesGo) {
  for (const AlgorithmEntry& entry : algorithms()) {
    for (const int ranks : {1, 2, 6, 13, 16}) {
      Trial trial{ranks, entry.operation, entry.algorithm, test_seed()};
      SCOPED_TRACE(trial.text());
      const std::size_t size = 48 * static_cast<std::size_t>(ranks);
      const Sent with = run_trial(trial, [&](const Team& team) {
        Data send(size);
        Data receive(size);
        finish(team, start(entry.operation, team, send, receive));
      });
      trial.carries = false;
      const Sent without = run_trial(trial, [&](const Team& team) {
        // Sizes without memory behind them: an access to the buffers would be noticed.
        Data send(size, 1);
        Data receive(size, 2);
        finish(team, start(entry.operation, team, send, receive));
        EXPECT_EQ(send, Data(size, 1));
        EXPECT_EQ(receive, Data(size, 2));
      });
      EXPECT_EQ(with.bytes, without.bytes);
      EXPECT_EQ(with.by_rank, without.by_rank);
    }
  }
}

TEST(Traffic, BuffersMayBeMissingWithoutData) {
  for (const int ranks : {2, 7}) {
    Trial trial{ranks, Operation::alltoall, Algorithm::bruck};
    trial.carries = false;
    run_trial(trial, [&](const Team& team) {
      finish(team, alltoall(team, {nullptr, nullptr, 100, 0, false}));
      finish(team, allreduce(team, {nullptr, nullptr, 1000, sum, 0, false}));
      finish(team, allgather(team, {nullptr, nullptr, 100, 0, true}));
      finish(team, bcast(team, {nullptr, 100000, 0}));
    });
  }
}

// Three concurrent operations of one team, finished in a different order at each rank.
TEST(Traffic, OperationsUnderWayDoNotMix) {
  for (const int ranks : {2, 3, 8, 13}) {
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 6; ++seed) {
      const Trial trial{ranks, Operation::alltoall, Algorithm::automatic, seed, seed % 2 == 0};
      SCOPED_TRACE(trial.text());
      run_trial(trial, [&](const Team& team) {
        const auto p = static_cast<std::size_t>(ranks);
        Data send[3];
        Data receive[3];
        mp::Task tasks[3];
        for (int i = 0; i < 3; ++i) {
          Team call{team.m, team.context, team.rank, team.members, team.tag + i};
          for (int k = 0; k < ranks; ++k) append(send[i], data_of(team.rank + 100 * i, k, 60));
          receive[i].resize(60 * p);
          tasks[i] = alltoall(call, {send[i].data(), receive[i].data(), 60, 0, false});
        }
        for (int i = 0; i < 3; ++i) {
          const int which = (i + team.rank) % 3;
          finish(team, tasks[which]);
          Data expected;
          for (int k = 0; k < ranks; ++k) append(expected, data_of(k + 100 * which, team.rank, 60));
          EXPECT_EQ(receive[which], expected);
        }
      });
    }
  }
}

// Once for all ranks, whatever operations an algorithm consists of.
TEST(Traffic, CallsCountByTheirAlgorithm) {
  for (const AlgorithmEntry& entry : algorithms()) {
    for (const int ranks : {1, 2, 6}) {
      Usage usage;
      Trial trial{ranks, entry.operation, entry.algorithm};
      trial.usage = &usage;
      run_trial(trial, [&](const Team& team) {
        Data send(static_cast<std::size_t>(40 * ranks)), receive(send.size()), none;
        Team again = team;
        for (again.tag = 5; again.tag < 8; ++again.tag)
          finish(again, start(entry.operation, again, send, receive));
        finish(again, bcast(again, {none.data(), 0, 0}));
        again.internal = true;
        finish(again, start(entry.operation, again, send, receive));
      });
      std::map<std::string, std::uint64_t> expected;
      const std::string words =
          std::string(name(entry.operation)) + "=" + std::string(name(entry.algorithm));
      if (ranks > 1) expected[words] = 3;
      EXPECT_EQ(usage.by_name(), expected) << trial.text();
    }
  }
}

// The library's own data is carried even if the program's is not.
TEST(Traffic, InternalDataIsCarriedAlways) {
  Trial trial{5, Operation::allgather, Algorithm::automatic};
  trial.carries = false;
  run_trial(trial, [&](const Team& team) {
    Team own{team.m, team.context, team.rank, team.members, 9};
    own.internal = true;
    const Data send = data_of(team.rank, 0, 8);
    Data receive(40);
    finish(team, allgather(own, {send.data(), receive.data(), 8, 0, false}));
    Data expected;
    for (int i = 0; i < 5; ++i) append(expected, data_of(i, 0, 8));
    EXPECT_EQ(receive, expected);
  });
}

}  // namespace
}  // namespace weft::coll
