// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/planes.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include <weft/base/config.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/network/topo/network_file.hpp>
#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

Topology net(std::string_view spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

std::string refusal(std::string_view spec) {
  const auto made = make_topology(spec);
  return made ? "" : made.error().text();
}

// By node and card: the name of its router.
std::string place(const Topology& t, std::uint32_t node, std::uint32_t card) {
  const NodeId end(node * static_cast<std::uint32_t>(t.cards) + card);
  return router_name(t, t.graph.router_of(end));
}

TEST(Planes, ACardInEveryCopy) {
  for (const TopologyKind& kind : topology_kinds()) {
    if (kind.example.empty()) continue;
    const Topology one = net(kind.example);
    const Topology two = net(std::string(kind.example) + ",planes=2");
    EXPECT_EQ(two.name, one.name + ",planes=2");
    EXPECT_EQ(two.cards, 2);
    EXPECT_EQ(two.computers(), one.graph.node_count());
    EXPECT_EQ(two.graph.router_count(), 2 * one.graph.router_count());
    EXPECT_EQ(two.graph.cable_count(), 2 * one.graph.cable_count());
    for (std::uint32_t n = 0; n < two.computers(); ++n)
      for (std::uint32_t card = 0; card < 2; ++card)
        EXPECT_EQ(place(two, n, card), (card == 0 ? "p0:" : "p1:") + place(one, n, 0));
    // No cable joins the copies.
    for (std::uint32_t r = 0; r < two.graph.router_count(); ++r)
      for (const Port& port : two.graph.ports(RouterId(r)))
        if (port.connected()) {
          EXPECT_EQ(port.peer.index / one.graph.router_count(), r / one.graph.router_count());
        }
    EXPECT_TRUE(validate(two)) << two.name;
    const Facts single = find_facts(one), both = find_facts(two);
    EXPECT_EQ(both.nodes, single.nodes);
    EXPECT_EQ(both.cards, 2);
    EXPECT_EQ(both.distance->diameter, single.distance->diameter);
    EXPECT_DOUBLE_EQ(both.distance->average, single.distance->average);
    EXPECT_EQ(both.bisection->cables, 2 * single.bisection->cables);
    EXPECT_EQ(both.bisection->ground, single.bisection->ground);
  }
}

TEST(Planes, ACopyIsTheNetworkItWasMadeFrom) {
  for (const char* const spec : {"torus:4x3,p=2", "fattree:k=4,levels=2", "dragonfly:a=4,h=2,p=2"})
    for (const char* const more : {",planes=3", ",planes=2,rails=2", ",rails=2"}) {
      const Topology one = net(spec);
      const Topology all = net(std::string(spec) + more);
      for (int p = 0; p < all.shape->planes()->count; ++p) {
        const Topology copy = plane_of(all, p);
        ASSERT_EQ(copy.graph.link_count(), one.graph.link_count());
        for (std::uint32_t l = 0; l < one.graph.link_count(); ++l)
          EXPECT_EQ(copy.graph.port(LinkId(l)).peer, one.graph.port(LinkId(l)).peer);
        ASSERT_EQ(copy.graph.node_count(), one.graph.node_count());
        for (std::uint32_t n = 0; n < one.graph.node_count(); ++n)
          EXPECT_EQ(copy.graph.router_of(NodeId(n)), one.graph.router_of(NodeId(n)));
        EXPECT_EQ(copy.shape, all.shape->planes()->shape);
      }
    }
}

TEST(Planes, NamesRoundTrip) {
  for (const char* const spec : {"torus:4x3,planes=2", "fattree:k=4,levels=2,rails=2",
                                 "slimfly:q=3,planes=2,rails=2", "random:n=8,d=3,planes=3"}) {
    const Topology t = net(spec);
    for (std::uint32_t r = 0; r < t.graph.router_count(); ++r) {
      EXPECT_EQ(*find_router(t, router_name(t, RouterId(r))), RouterId(r));
      EXPECT_EQ(find_router(t, coordinates(t, RouterId(r))), RouterId(r));
    }
    for (std::uint32_t n = 0; n < t.graph.node_count(); ++n)
      EXPECT_EQ(*find_node(t, node_name(t, NodeId(n))), NodeId(n));
    EXPECT_EQ(*find_node(t, "n1"), NodeId(static_cast<std::uint32_t>(t.cards)));
    for (const char* const wrong : {"n0.", "n0.9", "n9999.0", "n-1", "n0.-1", "n0.x"})
      EXPECT_FALSE(find_node(t, wrong)) << wrong;
    for (const char* const wrong : {"p9:(0,0)", "p0:", "p:(0,0)", "p0:x"})
      EXPECT_FALSE(find_router(t, std::string_view(wrong))) << wrong;
  }
}

TEST(Rails, CardsOfANodeAreAtTheLeavesOfItsGroup) {
  const Topology t = net("fattree:k=4,levels=2,rails=2");
  EXPECT_EQ(t.computers(), 8u);
  EXPECT_EQ(place(t, 0, 0), place(t, 3, 0));
  EXPECT_EQ(place(t, 0, 1), place(t, 3, 1));
  EXPECT_NE(place(t, 0, 0), place(t, 0, 1));
  EXPECT_NE(place(t, 4, 0), place(t, 3, 0));
  // Cards of one number and group meet at their leaf, and those of other groups at the spines.
  const Facts facts = find_facts(t);
  EXPECT_EQ(facts.distance->diameter, 2);
  EXPECT_DOUBLE_EQ(facts.distance->average, 2 * 4 / 7.0);
  // All cables of a group: half of the nodes is on the other side.
  EXPECT_EQ(facts.bisection->cables, 8u);
}

TEST(Rails, CutsKeepNodesWhole) {
  const Topology t = net("fattree:k=4,levels=2,rails=4");
  const RouterSets sets = routers_of_nodes(t);
  EXPECT_EQ(sets.count, 1u + 4u);  // Four leaves are one, the spines stand alone.
  for (std::uint32_t n = 0; n < t.computers(); ++n)
    for (std::uint32_t card = 1; card < 4; ++card)
      EXPECT_EQ(sets.of_router[t.graph.router_of(NodeId(4 * n)).index],
                sets.of_router[t.graph.router_of(NodeId(4 * n + card)).index]);
  const auto joined = join_routers(t.graph, sets);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->router_count(), sets.count);
  EXPECT_EQ(joined->cable_count(), 16u);
}

TEST(Planes, WrongNumbersAreRefused) {
  EXPECT_EQ(refusal("torus:4x4,planes=0"),
            "torus:4x4,planes=0: 'planes' is 0, but must be from 1 to 16");
  EXPECT_EQ(refusal("torus:4x4,planes=2,planes=3"),
            "torus:4x4,planes=2,planes=3: 'planes' is given twice");
  EXPECT_EQ(refusal("torus:4x4,rails=x"),
            "torus:4x4,rails=x: 'rails' is x, but must be from 1 to 16");
  EXPECT_EQ(refusal("torus:4x4,planes=8,rails=4"),
            "torus:4x4,planes=8,rails=4: planes = 8 and rails = 4 make 32 cards of a node, but at "
            "most 16 are possible");
  EXPECT_EQ(
      refusal("torus:3x3,rails=2"),
      "torus:3x3,rails=2: rails = 2: the 9 routers with nodes do not form groups of 2; give a "
      "number that divides 9");
  EXPECT_NE(refusal("torus:4096x4096,planes=2"), "");
}

TEST(Planes, BrokenCablesAreOfOneCopy) {
  const auto config = Config::read_text(
      "[network]\ntopology = \"ring:4\"\nplanes = 2\ndown = [\"p1:(0)-p1:(1)\"]\n", "f.toml");
  ASSERT_TRUE(config);
  const auto t = read_topology(config->table("network"), "");
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_TRUE(plane_of(*t, 0).graph.all_up());
  EXPECT_EQ(plane_of(*t, 1).graph.down_count(), 1u);
  EXPECT_EQ(find_facts(*t).distance->diameter, 3);
  // A second one would cut the copy into two, although all nodes reach each other in the first.
  const auto cut = Config::read_text(
      "[network]\ntopology = \"ring:4\"\nplanes = 2\ndown = [\"random:3\"]\n", "f.toml");
  const auto refused = read_topology(cut->table("network"), "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "f.toml:4: 'random:3': only 2 cables can break while all nodes stay connected");
}

TEST(Planes, GraphFilesHaveTheKeyOnly) {
  const auto config =
      Config::read_text("[network]\ntopology = \"ring:4,planes=2\"\nplanes = 2\n", "f.toml");
  const auto twice = read_topology(config->table("network"), "");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().text(),
            "f.toml:3: 'ring:4,planes=2' says planes or rails already; leave planes out here");
}

}  // namespace
}  // namespace weft
