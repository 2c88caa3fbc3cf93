// SPDX-License-Identifier: Apache-2.0
// What every format of traffic files promises, asked of each row of the table by its example. A new
// format is tested here without more.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/workload/patterns/traffic_file.hpp>

namespace weft {
namespace {

class EveryFormat : public testing::TestWithParam<TrafficFormat> {
 protected:
  Result<TrafficMatrix> read(const std::string& text) const {
    TrafficReading how;
    const auto found = parse_traffic_format(GetParam().name);
    EXPECT_TRUE(found) << found.error().text();
    how.format = *found;
    return read_traffic_text(text, "made-up", how);
  }
  std::string example() const { return std::string(GetParam().example); }
};

void expect_example(const Result<TrafficMatrix>& matrix) {
  ASSERT_TRUE(matrix) << matrix.error().text();
  EXPECT_EQ(matrix->ranks(), 2u);
  ASSERT_EQ(matrix->flows().size(), 2u);
  for (const Flow& flow : matrix->flows()) {
    EXPECT_EQ(flow.from, 1 - flow.to);
    EXPECT_EQ(flow.bytes, 2048u);
    EXPECT_EQ(flow.messages, 1u);
  }
}

TEST_P(EveryFormat, ReadsItsExample) {
  expect_example(read(example()));
}

TEST_P(EveryFormat, IsFoundByItsContentsOrName) {
  const TrafficFormat& format = GetParam();
  EXPECT_NE(format.recognise(format.example), Likeness::none);
  for (const std::string_view end : format.name_ends) {
    EXPECT_TRUE(end.starts_with('.')) << end;
    expect_example(read_traffic_text(format.example, "some" + std::string(end), {}));
  }
  if (format.name_ends.empty()) expect_example(read_traffic_text(format.example, "some", {}));
}

// What is read and written as text is read back the same.
TEST_P(EveryFormat, RoundTripsThroughText) {
  const auto matrix = read(example());
  ASSERT_TRUE(matrix) << matrix.error().text();
  expect_example(read_traffic_text(write_traffic_text(*matrix), "some.txt", {}));
}

TEST_P(EveryFormat, NamesBadLines) {
  const auto lines = std::count(GetParam().example.begin(), GetParam().example.end(), '\n');
  const auto refused = read(example() + "what is this?\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().file(), "made-up");
  EXPECT_EQ(refused.error().line(), lines + 1) << refused.error().text();
}

TEST_P(EveryFormat, RefusesFewerRanksThanTheFileUses) {
  TrafficReading how{.ranks = 1, .format = *parse_traffic_format(GetParam().name)};
  EXPECT_FALSE(read_traffic_text(GetParam().example, "made-up", how));
  how.ranks = 5;
  const auto wider = read_traffic_text(GetParam().example, "made-up", how);
  ASSERT_TRUE(wider) << wider.error().text();
  EXPECT_EQ(wider->ranks(), 5u);
}

std::vector<TrafficFormat> readable() {
  std::vector<TrafficFormat> formats;
  for (const TrafficFormat& format : traffic_formats())
    if (format.read != nullptr) formats.push_back(format);
  return formats;
}
std::string test_name(const testing::TestParamInfo<TrafficFormat>& one) {
  std::string name(one.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryFormat, testing::ValuesIn(readable()), test_name);

}  // namespace
}  // namespace weft
