// SPDX-License-Identifier: Apache-2.0
#include "idle.hpp"

#include <gtest/gtest.h>

namespace weft::mpi {
namespace {

// The time after this many polls at this cost each.
Time after(int questions, Duration cost) {
  Idle idle;
  Time now;
  for (int i = 0; i < questions; ++i) {
    const Time entered = now;
    now = now + cost;
    now = now + idle.step(entered, now);
  }
  return now;
}

TEST(Idle, TimePassesFromTheBeginningOn) {
  EXPECT_GT(after(2, Duration()), Time());
}

TEST(Idle, CallsThatCostTimeNeedNoMore) {
  EXPECT_EQ(after(10'000, Duration::ns(200)), Time() + Duration::ms(2));
}

TEST(Idle, FewQuestionsCostLittleAndManyGetFar) {
  EXPECT_LT(after(1000, Duration()), Time() + Duration::us(1));
  EXPECT_GT(after(12'000, Duration()), Time() + Duration::ms(3'600'000));
  EXPECT_GT(after(12'000, Duration::ns(200)), Time() + Duration::ms(3'600'000));
}

TEST(Idle, AMomentOfTheClockIsMissedByLittle) {
  Idle idle;
  Time now;
  const Time end = Time() + Duration::ms(1000);
  while (now < end) now = now + idle.step(now, now);
  EXPECT_LT(now - end, Duration::ms(20));
}

TEST(Idle, StepsAreShortAgainAfterSomethingHappened) {
  Idle idle;
  Time now;
  for (int i = 0; i < 20'000; ++i) now = now + idle.step(now, now);
  EXPECT_GT(idle.lasting(), Duration::ms(1000));
  now = now + Duration::ns(40);
  EXPECT_EQ(idle.step(now, now), Duration());
  EXPECT_EQ(idle.step(now, now), Duration::ps(1));
  EXPECT_EQ(idle.lasting(), Duration::ps(1));
}

}  // namespace
}  // namespace weft::mpi
