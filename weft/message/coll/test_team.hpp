// SPDX-License-Identifier: Apache-2.0
// For tests only: teams on the test network, and data whose values follow from their position.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/message/coll/collectives.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/task.hpp>
#include <weft/message/testnet/testnet.hpp>

namespace weft::coll {

struct Trial {
  int ranks = 1;
  Operation operation = Operation::barrier;
  Algorithm algorithm = Algorithm::automatic;
  std::uint64_t seed = 1;
  bool ordered = true;
  bool carries = true;
  std::int64_t eager_limit = 200;  // Small, so that most tests see both protocols.
  Usage* usage = nullptr;          // Where to count algorithms.

  bool in_place() const { return (mix(seed) & 1) != 0; }
  std::string text() const {
    return std::string(name(operation)) + "=" + std::string(name(algorithm)) + " on " +
           std::to_string(ranks) + " ranks, seed " + std::to_string(seed) +
           (ordered ? "" : ", unordered");
  }
};

// Up to three dimensions, the smallest factors first.
inline Grid grid_of(int ranks) {
  Grid grid;
  int rest = ranks;
  for (int factor = 2; factor * factor <= rest && grid.extents.size() < 2;) {
    if (rest % factor == 0) {
      grid.extents.push_back(factor);
      rest /= factor;
    } else {
      ++factor;
    }
  }
  grid.extents.push_back(rest);
  if (ranks % 2 == 0) grid.extents.push_back(1);
  return grid;
}

// Groups of different sizes, not in the order of ranks; some trials have a single group.
inline Groups groups_of(int ranks, std::uint64_t seed) {
  std::vector<std::uint32_t> each;
  const std::uint64_t count = 1 + mix(seed + 17) % 5;
  for (int i = 0; i < ranks; ++i)
    each.push_back(static_cast<std::uint32_t>(mix(seed + static_cast<std::uint64_t>(i)) % count));
  return Groups(each);
}

// Totals over all ranks, and what each sent.
struct Sent {
  std::uint64_t messages = 0, bytes = 0;
  std::vector<std::uint64_t> by_rank;
};

inline Sent run_trial(const Trial& trial, const std::function<void(const Team&)>& body) {
  TestnetOptions network;
  network.seed = trial.seed;
  network.ordered = trial.ordered;
  network.carries_data = trial.carries;
  mp::Options options;
  options.eager_limit = Bytes{trial.eager_limit};
  Choices choices;
  choices.force(trial.operation, trial.algorithm);
  if (trial.usage != nullptr) choices.set_usage(*trial.usage);
  const Grid grid = grid_of(trial.ranks);
  const Groups groups = groups_of(trial.ranks, trial.seed);
  Sent sent;
  sent.by_rank.resize(static_cast<std::size_t>(trial.ranks));
  const Status status =
      run_on_testnet(static_cast<std::uint32_t>(trial.ranks), network, [&](const Fabric& fabric) {
        mp::Messenger messenger(fabric, options);
        const mp::Members members = mp::Members::all(fabric.ranks);
        Team team{messenger, 6,      static_cast<int>(fabric.self.index), members, 5, &grid, false,
                  &choices,  &groups};
        body(team);
        const std::uint64_t messages = messenger.use().eager + messenger.use().rendezvous;
        sent.messages += messages;
        sent.bytes += messenger.use().bytes_sent;
        sent.by_rank[fabric.self.index] = messages;
      });
  EXPECT_TRUE(status.has_value()) << trial.text() << ": " << status.error().text();
  return sent;
}

inline void finish(const Team& team, const mp::Task& task) {
  EXPECT_EQ(mp::run(team.m, task), ok);
}

using Data = std::vector<std::uint8_t>;

// The byte that rank `from` has for rank `to` at this position.
inline std::uint8_t datum(int from, int to, std::size_t place) {
  return static_cast<std::uint8_t>(mix(static_cast<std::uint64_t>(from) * 1000003 +
                                       static_cast<std::uint64_t>(to) * 7919 + place * 31 + 5));
}
inline Data data_of(int from, int to, std::size_t size) {
  Data data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = datum(from, to, i);
  return data;
}
inline void append(Data& to, const Data& more) {
  to.insert(to.end(), more.begin(), more.end());
}

constexpr int test_ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 23, 32, 33};

}  // namespace weft::coll
