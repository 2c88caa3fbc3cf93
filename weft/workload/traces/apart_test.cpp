// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/workload/traces/apart.hpp>

namespace weft::detail {
namespace {

TEST(Apart, AnswersAndErrorsComeThrough) {
  const auto matrix = read_apart("x", [] {
    return TrafficMatrix::make(3, {{0, 2, 5, 1}, {1, 0, 7, 2}});
  });
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->ranks(), 3u);
  ASSERT_EQ(matrix->flows().size(), 2u);
  EXPECT_EQ(matrix->flows()[1], (Flow{1, 0, 7, 2}));
  const auto error = read_apart("x", []() -> Result<TrafficMatrix> {
    return Error::input("is no archive").at("some.otf2", 3);
  });
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().text(), "some.otf2:3: is no archive");
}

TEST(Apart, LargeAnswersDoNotBlock) {
  const auto matrix = read_apart("x", [] {
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i < 50'000; ++i) flows.push_back({i, 0, 1, 1});
    return TrafficMatrix::make(50'000, std::move(flows));
  });
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->flows().size(), 50'000u);
}

TEST(Apart, ACrashIsAnError) {
  const auto crashed = read_apart("bad.otf2", []() -> Result<TrafficMatrix> { std::abort(); });
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().text(),
            "bad.otf2: the trace library crashed on it: the archive is damaged; record it again");
}

}  // namespace
}  // namespace weft::detail
