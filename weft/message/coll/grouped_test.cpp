// SPDX-License-Identifier: Apache-2.0
// What is specific to exchanges over groups: the number of messages, long blocks, ranks that
// disagree. Delivery of every block is tested with all other algorithms.
#include <weft/message/coll/test_team.hpp>

namespace weft::coll {
namespace {

// The size of the block from a to b, `sizes[a][b]`, as a rank believes it.
struct Table {
  using Sizes = std::vector<std::vector<std::size_t>>;
  const Sizes* sizes;
  int rank;
  bool sends;
  std::size_t most;
  static Blocks::Block find(const void* arg, int index) {
    const auto& self = *static_cast<const Table*>(arg);
    const auto i = static_cast<std::size_t>(self.rank), k = static_cast<std::size_t>(index);
    return {static_cast<std::ptrdiff_t>(self.most * k),
            self.sends ? (*self.sizes)[i][k] : (*self.sizes)[k][i]};
  }
  Blocks blocks() const { return Blocks::described(&find, this); }
};

Trial grouped(Operation operation, int ranks) {
  return {ranks, operation, Algorithm::groups, 3, false};
}

// Every rank sends according to `sent` and expects `expected`; returns each one's error.
std::vector<int> exchange(const Table::Sizes& sent, const Table::Sizes& expected,
                          std::size_t most) {
  const auto ranks = sent.size();
  std::vector<int> errors(ranks);
  run_trial(grouped(Operation::alltoallv, static_cast<int>(ranks)), [&](const Team& team) {
    const auto self = static_cast<std::size_t>(team.rank);
    const Table out{&sent, team.rank, true, most}, in{&expected, team.rank, false, most};
    Data send(most * ranks), receive(most * ranks, 9);
    for (std::size_t i = 0; i < ranks; ++i) {
      const Data block = data_of(team.rank, static_cast<int>(i), sent[self][i]);
      std::copy(block.begin(), block.end(), send.begin() + static_cast<std::ptrdiff_t>(most * i));
    }
    errors[self] = mp::run(
        team.m, alltoallv(team, {send.data(), out.blocks(), receive.data(), in.blocks(), false}));
    if (errors[self] != ok) return;
    for (std::size_t i = 0; i < ranks; ++i) {
      const auto from = receive.begin() + static_cast<std::ptrdiff_t>(most * i);
      const std::size_t size = expected[i][self];
      EXPECT_EQ(Data(from, from + static_cast<std::ptrdiff_t>(size)),
                data_of(static_cast<int>(i), team.rank, size));
      EXPECT_TRUE(size == most || from[static_cast<std::ptrdiff_t>(size)] == 9);
    }
  });
  return errors;
}

TEST(Grouped, SendsOneMessageForEachOtherGroupAndMate) {
  for (const bool equal : {true, false}) {
    const Trial trial = grouped(equal ? Operation::alltoall : Operation::alltoallv, 24);
    std::vector<std::uint32_t> each;
    for (std::uint32_t i = 0; i < 24; ++i) each.push_back(i / 6);
    const Groups groups(each);
    const Table::Sizes sizes(24, std::vector<std::size_t>(24, 8));
    const Sent sent = run_trial(trial, [&](const Team& given) {
      Team team = given;
      team.groups = &groups;
      const Table out{&sizes, team.rank, true, 8}, in{&sizes, team.rank, false, 8};
      Data send(192), receive(192);
      if (equal) {
        finish(team, alltoall(team, {send.data(), receive.data(), 8, 0, false}));
      } else {
        finish(team,
               alltoallv(team, {send.data(), out.blocks(), receive.data(), in.blocks(), false}));
      }
    });
    for (const std::uint64_t messages : sent.by_rank) EXPECT_EQ(messages, 3u + 5u);
  }
}

TEST(Grouped, LongBlocksGoAlone) {
  constexpr std::size_t most = 200'000;
  Table::Sizes sizes(9, std::vector<std::size_t>(9));
  for (std::size_t a = 0; a < 9; ++a)
    for (std::size_t b = 0; b < 9; ++b) sizes[a][b] = mix(a * 9 + b) % 3 == 0 ? most : 100 * b;
  EXPECT_EQ(exchange(sizes, sizes, most), std::vector<int>(9, ok));
}

// No rank hangs, and one that gets what it did not expect returns an error.
TEST(Grouped, DisagreementIsAnError) {
  constexpr std::size_t most = 200'000;
  const Table::Sizes right(7, std::vector<std::size_t>(7, 40));
  for (const auto& [sent, expected, error] : {std::tuple{60, 40, truncated},
                                              {20, 40, incomplete},
                                              {200'000, 40, truncated},
                                              {40, 200'000, incomplete},
                                              {200'000, 150'000, truncated},
                                              {600, 40, truncated}}) {
    for (std::size_t to = 0; to < 7; ++to) {
      Table::Sizes out = right, in = right;
      out[2][to] = static_cast<std::size_t>(sent);
      in[2][to] = static_cast<std::size_t>(expected);
      if (to == 2) continue;
      EXPECT_EQ(exchange(out, in, most)[to], error) << sent << " for " << expected;
    }
  }
}

}  // namespace
}  // namespace weft::coll
