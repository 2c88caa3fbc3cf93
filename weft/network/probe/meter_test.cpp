// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/meter.hpp"

#include <functional>

#include <gtest/gtest.h>

namespace weft::probe {
namespace {

// Returns what a test tells it to, and records how much it was asked at once.
class Scripted : public Meter {
 public:
  using Rule = std::function<double(Pair, std::size_t batch, std::size_t asked)>;
  explicit Scripted(Rule rule) : rule_(std::move(rule)) {}
  std::vector<double> round_trips_ns(std::span<const Pair> pairs) override {
    std::vector<double> times;
    for (const Pair& pair : pairs) times.push_back(rule_(pair, sizes.size(), pairs.size()));
    sizes.push_back(pairs.size());
    return times;
  }
  std::vector<double> flows_bit_per_s(std::span<const Pair> pairs) override {
    return std::vector<double>(pairs.size());
  }
  double elapsed_s() override { return 0; }
  bool interrupted() override { return false; }

  std::vector<std::size_t> sizes;  // Batch sizes.

 private:
  Rule rule_;
};

TEST(Instruments, RememberTheLeastOfEachPairAndDirection) {
  Scripted meter([](Pair pair, std::size_t batch, std::size_t) {
    if (batch == 1) return no_answer;
    return pair.from == 0 ? 50.0 + 10.0 * static_cast<double>(batch) : 70.0;
  });
  Instruments instruments(meter, 0);
  const std::vector<Pair> there = {{0, 1}}, back = {{1, 0}};
  EXPECT_EQ(instruments.round_trips_ns(there), std::vector{50.0});
  EXPECT_EQ(instruments.round_trips_ns(there), std::vector{50.0});  // No answer this time.
  EXPECT_EQ(instruments.round_trips_ns(there), std::vector{50.0});  // 70 this time.
  EXPECT_EQ(instruments.round_trips_ns(back), std::vector{70.0});
  EXPECT_EQ(instruments.counts().round_trips, 4u);
}

TEST(Instruments, AskAgainWhomManyAtOnceDisturb) {
  Scripted meter([](Pair pair, std::size_t, std::size_t asked) {
    // Far away, however many others are measured.
    if (pair.to == 9) return 300.0;
    return asked > 2 && pair.to % 2 == 0 ? 90.0 : 60.0;  // Near.
  });
  Instruments instruments(meter, 0);
  const std::vector<Pair> pairs = {{0, 1}, {0, 2}, {0, 3}, {0, 9}};
  EXPECT_EQ(instruments.round_trips_ns(pairs, 80), (std::vector{60.0, 60.0, 60.0, 300.0}));
  EXPECT_EQ(meter.sizes, (std::vector<std::size_t>{4, 2, 1}));
}

TEST(Instruments, DoNotAskAgainWhereThatHelpsNobody) {
  Scripted meter([](Pair, std::size_t, std::size_t) { return 300.0; });
  Instruments instruments(meter, 0);
  const std::vector<Pair> pairs = {{0, 1}, {0, 2}};
  EXPECT_EQ(instruments.round_trips_ns(pairs, 80), (std::vector{300.0, 300.0}));
  EXPECT_EQ(meter.sizes, std::vector<std::size_t>{2});
}

TEST(Instruments, DoNotAskAgainWhoDoesNotAnswer) {
  Scripted meter([](Pair, std::size_t, std::size_t) { return no_answer; });
  Instruments instruments(meter, 0);
  const std::vector<Pair> pairs = {{0, 1}};
  EXPECT_EQ(instruments.round_trips_ns(pairs, 80), std::vector{no_answer});
  EXPECT_EQ(meter.sizes, std::vector<std::size_t>{1});
}

}  // namespace
}  // namespace weft::probe
