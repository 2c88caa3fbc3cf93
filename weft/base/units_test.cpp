// SPDX-License-Identifier: Apache-2.0
#include "weft/base/units.hpp"

#include <gtest/gtest.h>

#include <weft/base/id.hpp>

namespace weft {
namespace {

TEST(Duration, CountsPicoseconds) {
  EXPECT_EQ(Duration::ns(2) + Duration::ps(500), Duration::ps(2500));
  EXPECT_EQ(3 * Duration::us(1) - Duration::ns(1), Duration::ns(2999));
  EXPECT_EQ(Duration::ms(1) / Duration::us(1), 1000);
  EXPECT_EQ(Duration::ns(7) / 2, Duration::ps(3500));
  EXPECT_DOUBLE_EQ(Duration::us(1).in_seconds(), 1e-6);
}

TEST(Time, IsAPoint) {
  const Time start = Time::ps(1000);
  EXPECT_EQ(start + Duration::ns(1) - start, Duration::ns(1));
  EXPECT_LT(start, Time::never());
  // Adding a deadline to "never" does not overflow.
  EXPECT_GT(Time::never() + Duration::max(), Time::zero());
}

TEST(Serialise, RoundsUpOncePerPacket) {
  EXPECT_EQ(serialise(Bytes{1}, Rate::gbit_per_s(3200)), Duration::ps(3));  // 2.5
  EXPECT_EQ(serialise(Bytes{1000}, Rate::gbit_per_s(3200)), Duration::ps(2500));
  EXPECT_EQ(serialise(Bytes{0}, Rate::gbit_per_s(1)), Duration::zero());
  EXPECT_EQ(serialise(Bytes{256}, Rate::gbyte_per_s(8)), Duration::ns(32));
}

TEST(Serialise, DoesNotOverflowOnLargeTransfers) {
  EXPECT_EQ(serialise(Bytes{std::int64_t{1} << 50}, Rate::gbyte_per_s(1 << 20)),
            Duration::ps(1'073'741'824'000));
}

TEST(SerialiseDeathTest, NeedsARate) {
  EXPECT_DEATH(serialise(Bytes{1}, Rate()), "internal error");
}

TEST(Id, OrdersByIndex) {
  EXPECT_LT(RouterId(1), RouterId(2));
  EXPECT_EQ(NodeId(), NodeId(0));
}

}  // namespace
}  // namespace weft
