// SPDX-License-Identifier: Apache-2.0
// Reductions: every algorithm against a serial one, with a sum and with matrix products, which do
// not commute.
#include <algorithm>
#include <array>

#include <weft/base/test_seed.hpp>
#include <weft/message/coll/test_team.hpp>

namespace weft::coll {
namespace {

using Matrix = std::array<std::uint32_t, 4>;
constexpr std::uint32_t prime = 65521;

Matrix product(const Matrix& a, const Matrix& b) {
  const auto cell = [&](std::size_t i, std::size_t j) {
    return (a[2 * i] * b[j] % prime + a[2 * i + 1] * b[2 + j] % prime) % prime;
  };
  return {cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)};
}

Matrix sum(const Matrix& a, const Matrix& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

template <Matrix (*operate)(const Matrix&, const Matrix&)>
void apply(const void* in, void* inout, std::int64_t count, void* /*arg*/) {
  const auto* left = static_cast<const Matrix*>(in);
  auto* right = static_cast<Matrix*>(inout);
  for (std::int64_t i = 0; i < count; ++i) right[i] = operate(left[i], right[i]);
}

using Vector = std::vector<Matrix>;

Vector operand(int rank, std::int64_t count) {
  Vector made(static_cast<std::size_t>(count));
  std::uint64_t place = static_cast<std::uint64_t>(rank) << 20;
  for (Matrix& m : made) {
    for (std::uint32_t& cell : m) cell = static_cast<std::uint32_t>(mix(++place) % prime);
  }
  return made;
}

struct Kind {
  bool commutes;
  Reducer reducer() const {
    return {sizeof(Matrix), commutes, commutes ? &apply<sum> : &apply<product>, nullptr};
  }
  // The expected result of ranks [0, end).
  Vector expected(int end, std::int64_t count) const {
    Vector total = operand(0, count);
    for (int i = 1; i < end; ++i) {
      const Vector next = operand(i, count);
      for (std::size_t k = 0; k < total.size(); ++k) {
        total[k] = commutes ? sum(total[k], next[k]) : product(total[k], next[k]);
      }
    }
    return total;
  }
};

using Body = std::function<void(const Trial&, const Kind&, std::int64_t count)>;
void for_each_trial(Operation operation, const Body& body) {
  std::vector<Algorithm> all = {Algorithm::automatic};
  for (const AlgorithmEntry& entry : algorithms()) {
    if (entry.operation == operation) all.push_back(entry.algorithm);
  }
  std::uint64_t seed = test_seed();
  for (const Algorithm algorithm : all) {
    for (const int ranks : test_ranks) {
      for (const std::int64_t count : {0, 1, 7, 70}) {
        for (const bool commutes : {true, false}) {
          ++seed;
          const Trial trial{ranks, operation, algorithm, seed, (mix(seed) & 2) != 0};
          SCOPED_TRACE(trial.text() + ", count " + std::to_string(count) +
                       (commutes ? "" : ", ordered operator"));
          body(trial, {commutes}, count);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(Reduction, ReduceGivesTheRootTheResult) {
  for_each_trial(Operation::reduce, [](const Trial& trial, const Kind& kind, std::int64_t count) {
    const Vector expected = kind.expected(trial.ranks, count);
    const bool in_place = trial.in_place();
    for (const int root : {0, trial.ranks / 2, trial.ranks - 1}) {
      run_trial(trial, [&](const Team& team) {
        const bool is_root = team.rank == root;
        const Vector send = operand(team.rank, count);
        Vector receive = is_root && in_place ? send : Vector(is_root ? send.size() : 0);
        finish(team, reduce(team, {is_root && in_place ? nullptr : send.data(), receive.data(),
                                   count, kind.reducer(), root, is_root && in_place}));
        if (is_root) {
          EXPECT_EQ(receive, expected);
        }
      });
    }
  });
}

TEST(Reduction, AllreduceGivesAllTheResult) {
  for_each_trial(Operation::allreduce,
                 [](const Trial& trial, const Kind& kind, std::int64_t count) {
                   const Vector expected = kind.expected(trial.ranks, count);
                   const bool in_place = trial.in_place();
                   run_trial(trial, [&](const Team& team) {
                     const Vector send = operand(team.rank, count);
                     Vector receive = in_place ? send : Vector(send.size());
                     finish(team, allreduce(team, {in_place ? nullptr : send.data(), receive.data(),
                                                   count, kind.reducer(), 0, in_place}));
                     EXPECT_EQ(receive, expected);
                   });
                 });
}

void check_scan(Operation operation) {
  for_each_trial(operation, [&](const Trial& trial, const Kind& kind, std::int64_t count) {
    const bool in_place = trial.in_place();
    const bool exclusive = operation == Operation::exscan;
    run_trial(trial, [&](const Team& team) {
      const Vector send = operand(team.rank, count);
      Vector receive = in_place ? send : Vector(send.size());
      const Reduce args{
          in_place ? nullptr : send.data(), receive.data(), count, kind.reducer(), 0, in_place};
      finish(team, exclusive ? exscan(team, args) : scan(team, args));
      if (exclusive && team.rank == 0) return;
      EXPECT_EQ(receive, kind.expected(team.rank + (exclusive ? 0 : 1), count));
    });
  });
}

TEST(Reduction, ScanGivesTheResultUpToARank) {
  check_scan(Operation::scan);
}
TEST(Reduction, ExscanGivesTheResultBelowARank) {
  check_scan(Operation::exscan);
}

TEST(Reduction, ReduceScatterBlockGivesEachItsPart) {
  for_each_trial(Operation::reduce_scatter_block, [](const Trial& trial, const Kind& kind,
                                                     std::int64_t given) {
    const std::int64_t count = given == 70 ? 20 : given;
    const Vector whole = kind.expected(trial.ranks, count * trial.ranks);
    const bool in_place = trial.in_place();
    run_trial(trial, [&](const Team& team) {
      const Vector send = operand(team.rank, count * trial.ranks);
      Vector receive = in_place ? send : Vector(static_cast<std::size_t>(count));
      finish(team, reduce_scatter_block(team, {in_place ? nullptr : send.data(), receive.data(),
                                               count, kind.reducer(), 0, in_place}));
      const auto first = whole.begin() + count * team.rank;
      EXPECT_TRUE(std::equal(first, first + count, receive.begin()));
    });
  });
}

// Rank i receives (i * 5) % 4 * unit elements.
struct Uneven {
  std::int64_t unit;
  static Blocks::Block find(const void* arg, int index) {
    const std::int64_t unit = static_cast<const Uneven*>(arg)->unit;
    std::int64_t offset = 0;
    for (int i = 0; i < index; ++i) offset += i * 5 % 4 * unit;
    return {static_cast<std::ptrdiff_t>(offset), static_cast<std::size_t>(index * 5 % 4 * unit)};
  }
};

TEST(Reduction, ReduceScatterGivesEachItsPart) {
  for_each_trial(
      Operation::reduce_scatter, [](const Trial& trial, const Kind& kind, std::int64_t count) {
        const Uneven uneven{count == 70 ? 15 : count};
        const Blocks blocks = Blocks::described(&Uneven::find, &uneven);
        const Blocks::Block end = blocks[trial.ranks];
        const Vector whole = kind.expected(trial.ranks, end.offset);
        const bool in_place = trial.in_place();
        run_trial(trial, [&](const Team& team) {
          const Vector send = operand(team.rank, end.offset);
          const Blocks::Block mine = blocks[team.rank];
          Vector receive = in_place ? send : Vector(mine.size);
          finish(team, reduce_scatter(team, {in_place ? nullptr : send.data(), receive.data(),
                                             blocks, kind.reducer(), in_place}));
          const auto first = whole.begin() + mine.offset;
          EXPECT_TRUE(
              std::equal(first, first + static_cast<std::ptrdiff_t>(mine.size), receive.begin()));
        });
      });
}

}  // namespace
}  // namespace weft::coll
