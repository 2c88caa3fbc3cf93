// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include <weft/network/topo/random_map.hpp>

namespace weft {
namespace {

TEST(RandomMap, ReadsItsWordsOnly) {
  EXPECT_EQ(random_map_seed("random")->value(), 1u);
  EXPECT_EQ(random_map_seed("random:7")->value(), 7u);
  EXPECT_EQ(random_map_seed("random:0")->value(), 0u);
  for (const char* file : {"", "best.map", "./random", "random.map", "randomly"})
    EXPECT_FALSE(random_map_seed(file)->has_value()) << file;
  for (const char* wrong : {"random:", "random:x", "random:-1", "random:1,2"}) {
    const auto seed = random_map_seed(wrong);
    ASSERT_FALSE(seed) << wrong;
    EXPECT_NE(seed.error().text().find("random:7"), std::string::npos);
  }
}

TEST(RandomMap, GivesEveryPlaceOnce) {
  auto places = random_places(1000, 3);
  EXPECT_EQ(places, random_places(1000, 3));
  EXPECT_NE(places, random_places(1000, 4));
  std::sort(places.begin(), places.end());
  std::vector<std::uint32_t> all(1000);
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_EQ(places, all);
  EXPECT_TRUE(random_places(0, 1).empty());
}

}  // namespace
}  // namespace weft
