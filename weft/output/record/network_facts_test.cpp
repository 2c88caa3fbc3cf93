// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/network/topo/graph_file.hpp>
#include <weft/output/record/network_facts.hpp>

namespace weft {
namespace {

using Family = NetworkFacts::Family;

TEST(NetworkFacts, CubesKeepTheirShape) {
  const NetworkFacts facts = facts_of(*make_topology("mesh:4x3"));
  EXPECT_EQ(facts.family, Family::cube);
  EXPECT_EQ(facts.radix, (std::vector<std::int32_t>{4, 3}));
  EXPECT_EQ(facts.wrap, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(facts.routers, 12U);
  EXPECT_EQ(facts.links(), 48U);
  EXPECT_EQ(facts.link_to[0], 1);   // (0,0) up in x
  EXPECT_EQ(facts.link_to[1], -1);  // and down: the edge of the mesh
  EXPECT_TRUE(facts.names.empty());
}

TEST(NetworkFacts, FatTreesHaveLevels) {
  const NetworkFacts facts = facts_of(*make_topology("fattree:k=2,levels=3"));
  EXPECT_EQ(facts.family, Family::tree);
  ASSERT_EQ(facts.level.size(), facts.routers);
  EXPECT_EQ(facts.level.front(), 0);
  EXPECT_EQ(facts.level.back(), 2);
  EXPECT_EQ(facts.names.size(), facts.routers);
}

TEST(NetworkFacts, DragonfliesHaveGroups) {
  const NetworkFacts facts = facts_of(*make_topology("dragonfly:a=4,h=2,p=2"));
  EXPECT_EQ(facts.family, Family::graph);
  ASSERT_EQ(facts.group.size(), facts.routers);
  EXPECT_EQ(facts.group[3], 0);
  EXPECT_EQ(facts.group[4], 1);
  EXPECT_TRUE(facts_of(*make_topology("fattree:k=2,levels=3")).group.empty());
}

TEST(NetworkFacts, RoutersOfCubesAreNamedByTheirCoordinates) {
  EXPECT_EQ(router_name(facts_of(*make_topology("torus:4x3x2")), 17), "(1,1,1)");
  EXPECT_EQ(router_name(facts_of(*make_topology("fattree:k=2,levels=3")), 0), "L1.0");
}

TEST(NetworkFacts, OthersAreTreesIfTheyHaveNoCircle) {
  const auto tree = read_graph_text(
      "weft-graph 1\nrouter root\nrouter a\nrouter b\nrouter c\nnode x a\nnode y c\n"
      "link root a\nlink root b\nlink b c\n",
      "test");
  ASSERT_TRUE(tree) << tree.error().text();
  const NetworkFacts facts = facts_of(*tree);
  EXPECT_EQ(facts.family, Family::tree);
  EXPECT_EQ(facts.level, (std::vector<std::uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(facts_of(*make_topology("complete:4")).family, Family::graph);
  EXPECT_EQ(facts_of(*make_topology("dragonfly:a=2,h=1,p=1")).family, Family::graph);
}

}  // namespace
}  // namespace weft
