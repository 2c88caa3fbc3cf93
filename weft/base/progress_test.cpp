// SPDX-License-Identifier: Apache-2.0
#include "weft/base/progress.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

class ProgressTest : public testing::Test {
 protected:
  double now = 100;
  std::vector<std::string> lines;
  Progress meter{[this] { return now; },
                 [this](std::string_view line) { lines.emplace_back(line); }};
};

TEST_F(ProgressTest, ShowsFractionTextAndEstimate) {
  now += 10;
  meter.update(0.25, "cycle 5");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "\r\x1b[K 25% cycle 5 (about 0:30 left)");
  now += 9000;
  meter.update(0.5, "cycle 6");
  EXPECT_EQ(lines[1], "\r\x1b[K 50% cycle 6 (about 2:30:10 left)");
}

TEST_F(ProgressTest, WaitsBetweenLines) {
  for (int i = 0; i < 1000; ++i) {
    now += 0.001;
    meter.update(i / 1000.0, "busy");
  }
  EXPECT_GE(lines.size(), 8u);
  EXPECT_LE(lines.size(), 11u);
}

TEST_F(ProgressTest, DoesNotGuessWithoutAFraction) {
  now += 10;
  meter.update(-1, "searching");
  EXPECT_EQ(lines[0], "\r\x1b[Ksearching");
}

TEST_F(ProgressTest, KeepsToOneLine) {
  now += 10;
  meter.update(0.5, std::string(500, 'x'));
  EXPECT_LE(lines[0].size(), 79u + 4u);
}

TEST_F(ProgressTest, LeavesNothingBehind) {
  now += 1;
  meter.update(0.5, "x");
  meter.finish();
  EXPECT_EQ(lines.back(), "\r\x1b[K");
  const std::size_t count = lines.size();
  meter.finish();
  EXPECT_EQ(lines.size(), count);
}

TEST_F(ProgressTest, PrintsNothingForShortWork) {
  meter.update(0.5, "x");
  meter.finish();
  EXPECT_TRUE(lines.empty());
}

TEST(Progress, IsSilentWithoutASink) {
  Progress meter(
      []() -> double {
        ADD_FAILURE() << "a silent meter does not look at the clock";
        return 0;
      },
      Progress::Sink());
  meter.update(0.5, "x");
  EXPECT_FALSE(meter.visible());
}

TEST(Progress, MovesWithoutClearingTwice) {
  double now = 0;
  int lines = 0;
  {
    Progress first([&] { return now; }, [&](std::string_view) { ++lines; });
    now = 1;
    first.update(0.5, "x");
    const Progress second(std::move(first));
  }
  EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace weft
