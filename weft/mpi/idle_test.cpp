// SPDX-License-Identifier: Apache-2.0
#include "idle.hpp"

#include <gtest/gtest.h>

namespace weft::mpi {
namespace {

// When a program is that has asked so often, each time at this cost.
Time after(int questions, Duration cost) {
  Idle idle;
  Time now;
  for (int i = 0; i < questions; ++i) {
    now = now + cost;
    now = now + idle.step(now);
  }
  return now;
}

TEST(Idle, TimePassesFromTheBeginningOn) {
  EXPECT_GT(after(2, Duration()), Time());
}

TEST(Idle, CallsThatCostTimeNeedNoMore) {
  EXPECT_EQ(after(50'000, Duration::ns(200)), Time() + Duration::ms(10));
}

TEST(Idle, FewQuestionsCostLittleAndManyGetFar) {
  EXPECT_LT(after(1000, Duration()), Time() + Duration::us(1));
  EXPECT_GT(after(100'000, Duration()), Time() + Duration::ms(8));
}

TEST(Idle, StepsAreShortAgainAfterSomethingHappened) {
  Idle idle;
  Time now;
  for (int i = 0; i < 20'000; ++i) now = now + idle.step(now);
  EXPECT_EQ(idle.step(now), Duration::ns(100));
  now = now + Duration::ns(40);
  EXPECT_EQ(idle.step(now), Duration());
  EXPECT_EQ(idle.step(now), Duration::ps(1));
}

}  // namespace
}  // namespace weft::mpi
