// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/decimal.hpp"

#include <array>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Decimal, IsReadExactly) {
  EXPECT_EQ(parse_decimal("0.06")->digits, 6);
  EXPECT_EQ(parse_decimal("0.06")->places, 2);
  EXPECT_EQ(parse_decimal("0.06")->value(), 0.06);
  EXPECT_EQ(parse_decimal(".5")->value(), 0.5);
  EXPECT_EQ(parse_decimal(" 12 ")->value(), 12.0);
  EXPECT_EQ(parse_decimal("3.")->value(), 3.0);
}

TEST(Decimal, RefusesWhatIsNoPlainNumber) {
  for (const char* text : {"", ".", "-1", "+1", "1e3", "0.0000000001", "1.2.3", "0x10", "nan",
                           "99999999999999999999", "1000000001"})
    EXPECT_FALSE(parse_decimal(text)) << text;
}

TEST(Decimal, CommonPlacesKeepTheValues) {
  const std::array numbers = {*parse_decimal("0.5"), *parse_decimal("0.25"), *parse_decimal("2")};
  int places = 0;
  EXPECT_EQ(to_common_places(numbers, places), (std::vector<std::int64_t>{50, 25, 200}));
  EXPECT_EQ(places, 2);
}

}  // namespace
}  // namespace weft
