// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/load.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::vector<double> flits(std::string_view text, const LoadScale& scale = {}) {
  const auto loads = parse_loads(text);
  EXPECT_TRUE(loads) << loads.error().text();
  std::vector<double> values;
  for (const Load& load : *loads) values.push_back(in_flits(load, scale));
  return values;
}

TEST(Load, SinglesListsAndRanges) {
  EXPECT_EQ(flits("0.1"), (std::vector{0.1}));
  EXPECT_EQ(flits("0.1, 0.25"), (std::vector{0.1, 0.25}));
  EXPECT_EQ(flits("0.02:0.10:0.02"), (std::vector{0.02, 0.04, 0.06, 0.08, 0.1}));
  EXPECT_EQ(flits("0.1:0.35:0.1,0.5"), (std::vector{0.1, 0.2, 0.3, 0.5}));
  EXPECT_EQ(flits("0.5:0.5:0.1"), (std::vector{0.5}));
}

TEST(Load, ShareOfTheCapacity) {
  EXPECT_EQ(flits("10%:30%:10%", {.cycle = {}, .flit = {}, .capacity = 0.5}),
            (std::vector{0.05, 0.1, 0.15}));
  // Half of uniform traffic crosses the 8 cables in the middle of a mesh of 64 nodes.
  EXPECT_EQ(*uniform_capacity(*make_topology("mesh:8x8")), 0.5);
  EXPECT_EQ(*uniform_capacity(*make_topology("torus:8x8")), 1.0);
  EXPECT_EQ(*uniform_capacity(*make_topology("torus:16x16")), 0.5);
}

TEST(Load, BytesPerSecond) {
  // A flit of 8 bytes per nanosecond is 8 GB/s.
  const LoadScale scale{.cycle = Duration::ns(1), .flit = Bytes{8}};
  EXPECT_DOUBLE_EQ(flits("2 GB/s", scale)[0], 0.25);
  EXPECT_EQ(flits("1 GB/s:4 GB/s:1 GB/s", scale).size(), 4u);
}

TEST(Load, RefusesNonsense) {
  for (const char* text : {"", "x", "0", "-0.1", "0.1:0.2", "0.1:0.2:0", "0.3:0.1:0.1",
                           "0.1:50%:0.1", "0.1,,0.2", "2 GB", "0.000001:1:0.000001"})
    EXPECT_FALSE(parse_loads(text)) << text;
}

}  // namespace
}  // namespace weft
