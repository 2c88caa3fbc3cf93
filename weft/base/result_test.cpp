// SPDX-License-Identifier: Apache-2.0
#include "weft/base/result.hpp"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include <weft/base/version.hpp>

namespace weft {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  Result<std::unique_ptr<int>> good = std::make_unique<int>(4);
  ASSERT_TRUE(good);
  const std::unique_ptr<int> taken = *std::move(good);
  EXPECT_EQ(*taken, 4);
  const Result<int> bad = Error::call("no");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().broken(), Broken::call);
}

TEST(Error, KeepsTheInnermostPlaceAndGrowsOutwards) {
  const Error error =
      Error::input("bad").at("a.toml", 7).during("reading links").at("outer.toml", 1);
  EXPECT_EQ(error.text(), "a.toml:7: reading links: bad");
  EXPECT_EQ(Error::run("full").at("out", 0).text(), "out: full");
  EXPECT_EQ(Error::run("full").text(), "full");
}

TEST(Status, IsGoodUntilAnError) {
  EXPECT_TRUE(Status());
  const Status bad = Error::run("full");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().message(), "full");
}

TEST(ResultDeathTest, AbortsWhenMisread) {
  const Result<int> bad = Error::run("no");
  EXPECT_DEATH(static_cast<void>(*bad), "internal error.*result.hpp");
  const Result<int> good = 1;
  EXPECT_DEATH(static_cast<void>(good.error()), "internal error");
}

TEST(Version, IsThreeNumbers) {
  EXPECT_EQ(std::count(version().begin(), version().end(), '.'), 2);
}

}  // namespace
}  // namespace weft
