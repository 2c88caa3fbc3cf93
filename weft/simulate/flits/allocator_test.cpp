// SPDX-License-Identifier: Apache-2.0
// Allocators against matchings worked out by hand, and against what must hold for any requests.
#include "weft/simulate/flits/allocator.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft::flits {
namespace {

using Pair = std::pair<int, int>;  // Input, output.

class Rig {
 public:
  Rig(const FlitModel& model, std::uint32_t count)
      : count_(count),
        allocator_(model, count),
        inputs_(count, 0),
        outputs_(count, 0),
        served_(model.arbiter == Arbiter::matrix ? std::size_t{count} * count : 0, 0) {}

  void ask(int input, int output, std::int64_t priority = 0) {
    allocator_.request(static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(output),
                       priority);
  }
  std::set<Pair> allot() {
    std::set<Pair> pairs;
    const Turns turns{count_, inputs_.data(), outputs_.data(),
                      served_.empty() ? nullptr : served_.data()};
    for (const Request& pair : allocator_.allot(turns)) pairs.emplace(pair.input, pair.output);
    return pairs;
  }
  std::set<Pair> allot(const std::vector<Pair>& asked) {
    for (const auto& [input, output] : asked) ask(input, output);
    return allot();
  }

 private:
  std::uint32_t count_;
  Allocator allocator_;
  std::vector<std::uint16_t> inputs_, outputs_;
  std::vector<std::uint64_t> served_;
};

using Pairs = std::set<Pair>;

TEST(Allocator, IslipTakesTurns) {
  Rig rig({}, 3);
  // Both outputs grant input 0, which accepts output 0.
  EXPECT_EQ(rig.allot({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), (Pairs{{0, 0}}));
  // Output 0 now prefers input 1, output 1 still input 0.
  EXPECT_EQ(rig.allot({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), (Pairs{{1, 0}, {0, 1}}));
  // And they swap from now on.
  EXPECT_EQ(rig.allot({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), (Pairs{{1, 1}, {0, 0}}));
}

TEST(Allocator, SecondIterationMatchesWhatIsLeft) {
  Rig rig({.iterations = 2}, 3);
  EXPECT_EQ(rig.allot({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), (Pairs{{0, 0}, {1, 1}}));
  // Its pointers have not moved: output 1 grants input 0 first.
  EXPECT_EQ(rig.allot({{0, 1}, {1, 1}}), (Pairs{{0, 1}}));
}

TEST(Allocator, SeparableInputFirstAsksForOneOutput) {
  Rig rig({.allocator = Allocation::separable_input}, 3);
  // Both inputs ask for output 0; output 1 is left alone.
  EXPECT_EQ(rig.allot({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), (Pairs{{0, 0}}));
  // Input 0 has turned to output 1.
  EXPECT_EQ(rig.allot({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), (Pairs{{0, 1}, {1, 0}}));
}

TEST(Allocator, MatrixServesWhoWaitedLongest) {
  Rig rig({.allocator = Allocation::separable_output, .arbiter = Arbiter::matrix}, 4);
  EXPECT_EQ(rig.allot({{2, 0}}), (Pairs{{2, 0}}));
  EXPECT_EQ(rig.allot({{1, 0}, {2, 0}}), (Pairs{{1, 0}}));
  // Round robin would go on with 3, then 0; here 2 has waited longer than 1, and 0 longest.
  EXPECT_EQ(rig.allot({{1, 0}, {2, 0}}), (Pairs{{2, 0}}));
  EXPECT_EQ(rig.allot({{0, 0}, {1, 0}, {2, 0}}), (Pairs{{0, 0}}));
  EXPECT_EQ(rig.allot({{0, 0}, {1, 0}, {2, 0}}), (Pairs{{1, 0}}));
}

TEST(Allocator, PriorityGoesBeforeTurns) {
  Rig rig({}, 3);
  for (int i = 0; i < 4; ++i) {
    rig.ask(0, 0, 1);
    rig.ask(1, 0, 2);
    rig.ask(2, 0, 2);
    EXPECT_EQ(rig.allot(), (Pairs{{i % 2 == 0 ? 1 : 2, 0}}));
  }
}

TEST(Allocator, RequestsOfManyEndsAreToldApart) {
  Allocator allocator({}, 200);
  allocator.request(3, 70, 0, 9);
  allocator.request(130, 5, 0, 1);
  EXPECT_TRUE(allocator.has_request(3, 70));
  EXPECT_TRUE(allocator.has_request(130, 5));
  for (const auto& [input, output] : {Pair{3, 6}, Pair{3, 5}, Pair{67, 70}, Pair{2, 5}})
    EXPECT_FALSE(allocator.has_request(static_cast<std::uint32_t>(input),
                                       static_cast<std::uint32_t>(output)));
  EXPECT_EQ(allocator.outputs_asked(), (1u << 6) | (1u << 5));
  EXPECT_EQ(allocator.first_outputs_asked(), 1u << 5);
  std::vector<std::uint16_t> inputs(200), outputs(200);
  const std::span<const Request> pairs =
      allocator.allot({200, inputs.data(), outputs.data(), nullptr});
  ASSERT_EQ(pairs.size(), 2u);
  for (const Request& pair : pairs) EXPECT_EQ(pair.tag, pair.input == 3 ? 9 : 1);
}

class AnyAllocator : public testing::TestWithParam<FlitModel> {};

// No input and no output twice, only what was asked for, never nothing; and in the long run
// everybody who keeps asking is served.
TEST_P(AnyAllocator, MatchesWhatWasAskedFor) {
  Rng rng(test_seed());
  for (int round = 0; round < 50; ++round) {
    const int count = 1 + static_cast<int>(rng.below(9));
    Rig rig(GetParam(), static_cast<std::uint32_t>(count));
    std::set<Pair> asked;
    for (int input = 0; input < count; ++input)
      for (int output = 0; output < count; ++output)
        if (rng.coin()) asked.emplace(input, output);
    std::map<Pair, int> served;
    for (int cycle = 0; cycle < 20 * count * count; ++cycle) {
      const std::set<Pair> got = rig.allot({asked.begin(), asked.end()});
      EXPECT_EQ(got.empty(), asked.empty());
      std::set<int> inputs, outputs;
      for (const Pair& pair : got) {
        EXPECT_TRUE(asked.count(pair) == 1);
        EXPECT_TRUE(inputs.insert(pair.first).second && outputs.insert(pair.second).second);
        ++served[pair];
      }
    }
    for (int input = 0; input < count; ++input) {
      const auto is_of = [&](const Pair& pair) { return pair.first == input; };
      const auto of = [&](const auto& one) { return one.first.first == input; };
      EXPECT_EQ(std::any_of(asked.begin(), asked.end(), is_of),
                std::any_of(served.begin(), served.end(), of));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AnyAllocator,
                         testing::Values(FlitModel{}, FlitModel{.iterations = 3},
                                         FlitModel{.allocator = Allocation::separable_input},
                                         FlitModel{.allocator = Allocation::separable_output},
                                         FlitModel{.allocator = Allocation::separable_input,
                                                   .arbiter = Arbiter::matrix},
                                         FlitModel{.allocator = Allocation::separable_output,
                                                   .arbiter = Arbiter::matrix}));

}  // namespace
}  // namespace weft::flits
