// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/machine.hpp"

#include <array>

#include <gtest/gtest.h>

#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/test_machines.hpp>

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

TEST(Machine, TravelsAsText) {
  Machine machine = test_machine({2, 2, 4, 2});
  machine.nics = {{"eth0", false, {1}, "0000:3b:00.0", Rate::gbit_per_s(126)},
                  {"mlx5_0", true, {2, 3}, "", Rate()},
                  {"virt", false, {}, "", Rate()}};
  machine.memory_rate = Rate::gbyte_per_s(37);
  const std::string text = to_text(machine);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto read = parse_machine(text);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, machine);
}

TEST(Machine, RefusesBrokenText) {
  for (const char* text :
       {"", "node 0 0 1", "distances 10", "node 0 0 1;distances 10 20", "node 0 0 x;distances 10",
        "node 0 0 1 1-;distances 10", "node 0 0 1 -;distances 10", "node 0 0 1;distances 0",
        "node 0 0 1;node 0 0 1;distances 10 20;distances 20 10",
        "node 0 0 1;distances 10;node 1 0 1;distances 10 20", "node 0 0 1;distances 10;card a b",
        "node 0 0 1;distances 10;card a wifi 0 - 0", "node 0 0 1;distances 10;memory_rate 0",
        "node 0 0 1;distances 10;unknown 7", "node 0 0 1;distances 10;"})
    EXPECT_FALSE(parse_machine(text)) << text;
}

TEST(Machine, KnowsDistances) {
  const Machine machine = test_machine({2, 2, 1, 1});
  EXPECT_EQ(distance(machine, 0, 0), 10);
  EXPECT_EQ(distance(machine, 0, 1), 12);
  EXPECT_EQ(distance(machine, 0, 2), 21);
  EXPECT_EQ(distance(machine, 0, 77), far_distance);
  EXPECT_EQ(distance(machine, 0, std::array{3, 1}), 12);
  EXPECT_EQ(distance(machine, 0, std::vector<int>{}), -1);
}

TEST(Machine, KeepsOnlyAllowedProcessors) {
  const Machine machine = keep_cpus(test_machine({2, 1, 2, 2}), std::array{1, 2, 3, 99});
  EXPECT_EQ(cpus_of(machine), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(machine.nodes.size(), 2u);
  EXPECT_EQ(machine.nodes[0].cores.size(), 2u);
  EXPECT_TRUE(machine.nodes[1].cores.empty());
}

TEST(Machine, MayBeUnknown) {
  const Machine machine = flat_machine(std::array{0, 5});
  EXPECT_EQ(cpus_of(machine), (std::vector<int>{0, 5}));
  EXPECT_EQ(*parse_machine(to_text(machine)), machine);
}

}  // namespace
}  // namespace weft::locality
