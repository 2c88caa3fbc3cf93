// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/host_layout.hpp"

#include <array>

#include <gtest/gtest.h>

#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/test_layouts.hpp>

namespace weft::locality {
namespace {

TEST(NumberList, IsReadAndWritten) {
  for (const char* text : {"-", "0", "0-7", "0-7,16-23", "3,1,2", "65535"}) {
    const auto numbers = parse_list(text);
    ASSERT_TRUE(numbers) << text;
    EXPECT_EQ(*parse_list(list_to_text(*numbers)), *numbers) << text;
  }
  EXPECT_EQ(list_to_text(std::array{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  for (const char* text : {"", "a", "1-", "-1", "3-1", "0-65536", "1,,2", "0-65535,0-65535"})
    EXPECT_FALSE(parse_list(text)) << text;
}

TEST(HostLayout, TravelsAsText) {
  HostLayout layout = test_layout({2, 2, 4, 2});
  layout.nics = {{"eth0", false, {1}, "0000:3b:00.0", Rate::gbit_per_s(126)},
                 {"mlx5_0", true, {2, 3}, "", Rate()},
                 {"virt", false, {}, "", Rate()}};
  layout.memory_rate = Rate::gbyte_per_s(37);
  const std::string text = to_text(layout);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto read = parse_host_layout(text);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, layout);
}

TEST(HostLayout, RefusesBrokenText) {
  for (const char* text :
       {"", "node 0 0 1", "distances 10", "node 0 0 1;distances 10 20", "node 0 0 x;distances 10",
        "node 0 0 1 1-;distances 10", "node 0 0 1 -;distances 10", "node 0 0 1;distances 0",
        "node 0 0 1;node 0 0 1;distances 10 20;distances 20 10",
        "node 0 0 1;distances 10;node 1 0 1;distances 10 20", "node 0 0 1;distances 10;card a b",
        "node 0 0 1;distances 10;card a wifi 0 - 0", "node 0 0 1;distances 10;memory_rate 0",
        "node 0 0 1;distances 10;unknown 7", "node 0 0 1;distances 10;"})
    EXPECT_FALSE(parse_host_layout(text)) << text;
}

TEST(HostLayout, KnowsDistances) {
  const HostLayout layout = test_layout({2, 2, 1, 1});
  EXPECT_EQ(distance(layout, 0, 0), 10);
  EXPECT_EQ(distance(layout, 0, 1), 12);
  EXPECT_EQ(distance(layout, 0, 2), 21);
  EXPECT_EQ(distance(layout, 0, 77), far_distance);
  EXPECT_EQ(distance(layout, 0, std::array{3, 1}), 12);
  EXPECT_EQ(distance(layout, 0, std::vector<int>{}), -1);
}

TEST(HostLayout, KeepsOnlyAllowedProcessors) {
  const HostLayout layout = keep_cpus(test_layout({2, 1, 2, 2}), std::array{1, 2, 3, 99});
  EXPECT_EQ(cpus_of(layout), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(layout.nodes.size(), 2u);
  EXPECT_EQ(layout.nodes[0].cores.size(), 2u);
  EXPECT_TRUE(layout.nodes[1].cores.empty());
}

TEST(HostLayout, MayBeUnknown) {
  const HostLayout layout = flat_host_layout(std::array{0, 5});
  EXPECT_EQ(cpus_of(layout), (std::vector<int>{0, 5}));
  EXPECT_EQ(*parse_host_layout(to_text(layout)), layout);
}

}  // namespace
}  // namespace weft::locality
