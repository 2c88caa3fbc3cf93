// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/load.hpp"
#include <gtest/gtest.h>

namespace weft {
namespace {

Bracket search(double limit, const SearchSettings& settings, int& asked) {
  asked = 0;
  auto found = find_saturation(settings, [&](double load) -> Result<bool> {
    ++asked;
    return load <= limit;
  });
  EXPECT_TRUE(found);
  return *found;
}

TEST(Saturation, BracketsTheLimitWithinTheTolerance) {
  int asked = 0;
  for (double limit = 0.0003; limit < 0.99; limit *= 1.13) {
    const Bracket b = search(limit, {}, asked);
    EXPECT_LE(b.stable, limit);
    EXPECT_GT(b.unstable, limit);
    EXPECT_LE(b.unstable - b.stable, 0.02 * b.unstable + 1e-6) << limit;
    EXPECT_LE(asked, 20);
  }
}

TEST(Saturation, EndsAtTheEndsOfTheRange) {
  int asked = 0;
  const Bracket all = search(2, {}, asked);
  EXPECT_EQ(all.stable, 1);
  EXPECT_EQ(all.unstable, 0);
  const Bracket none = search(0, {}, asked);
  EXPECT_EQ(none.stable, 0);
  EXPECT_EQ(none.unstable, 1e-4);
}

TEST(Saturation, PassesErrorsOn) {
  const auto found = find_saturation({}, [](double load) -> Result<bool> {
    if (load > 0.15) return Error::run("deadlock");
    return true;
  });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message(), "deadlock");
}

}  // namespace
}  // namespace weft
