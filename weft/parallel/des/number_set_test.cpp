// SPDX-License-Identifier: Apache-2.0
// A set of numbers beside the slow obvious way: std::set.
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/parallel/des/number_set.hpp>

namespace weft {
namespace {

std::uint32_t after(const std::set<std::uint32_t>& numbers, std::uint32_t number) {
  const auto next = numbers.upper_bound(number);
  return next == numbers.end() ? NumberSet::none : *next;
}

TEST(NumberSet, KnowsTheLowestAndTheNext) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed);
  Rng dice(seed);
  for (const std::uint64_t range : {3u, 64u, 65u, 5000u, 300'000u, 40'000'000u}) {
    NumberSet numbers;
    std::set<std::uint32_t> expected;
    for (int i = 0; i < 3000; ++i) {
      const auto number = static_cast<std::uint32_t>(dice.below(range));
      // Crowds come and go.
      if (dice.below(1000) < 500 + 450 * static_cast<std::uint64_t>(i / 500 % 2)) {
        numbers.add(number);
        expected.insert(number);
      } else if (!expected.empty()) {
        numbers.remove(*expected.begin());
        expected.erase(expected.begin());
      }
      ASSERT_EQ(numbers.empty(), expected.empty());
      if (!expected.empty()) {
        ASSERT_EQ(numbers.lowest(), *expected.begin());
      }
      ASSERT_EQ(numbers.after(number), after(expected, number));
      const auto far = static_cast<std::uint32_t>(dice.below(4 * range));
      ASSERT_EQ(numbers.after(far), after(expected, far));
    }
  }
}

TEST(NumberSet, HasNothingAfterTheGreatest) {
  NumberSet numbers;
  EXPECT_EQ(numbers.after(0), NumberSet::none);
  EXPECT_EQ(numbers.after(0xffff'fffe), NumberSet::none);
  numbers.add(63);
  EXPECT_EQ(numbers.after(62), 63u);
  EXPECT_EQ(numbers.after(63), NumberSet::none);
  EXPECT_EQ(numbers.after(64), NumberSet::none);
}

}  // namespace
}  // namespace weft
