// SPDX-License-Identifier: Apache-2.0
// What every family must keep: closed form = search, names and coordinates both ways, ports as
// described.
#include "weft/network/topo/topology.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include <weft/network/topo/kinds.hpp>
#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

Topology make(std::string_view spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << spec << ": " << made.error().text();
  return *std::move(made);
}

const char* const small_networks[] = {
    "torus:4x3",
    "torus:2x2x2",
    "torus:5",
    "torus:3x4x5,p=2",
    "torus:2x7",
    "torus:6x6",
    "mesh:4x3",
    "mesh:2",
    "mesh:2x3x4",
    "mesh:9,p=3",
    "cube:4x4x3,wrap=101",
    "cube:5x2x3,wrap=010",
    "cube:2x2,wrap=11",
    "tofu:2x2x2",
    "tofu:3x4x2x2x3x2",
    "ring:2",
    "ring:3",
    "ring:8,p=2",
    "hypercube:1",
    "hypercube:5",
    "hypercube:3,p=4",
    "fattree:k=2,levels=1",
    "fattree:k=2,levels=4",
    "fattree:k=3,levels=3",
    "fattree:k=4,levels=2",
    "fattree:radix=4,levels=3",
    "fattree:radix=8,levels=2",
    "fattree:radix=5,levels=1",
    "fattree:k=4,levels=3,taper=2",
    "fattree:radix=8,levels=2,taper=4",
    "xgft:m=3x2x4,w=1x2x3",
    "xgft:m=2x3x2,w=1x1x4",
    "xgft:m=1x4,w=1x3",
    "xgft:m=4x2x2x2,w=1x2x1x2",
    "dragonfly:a=4,h=2,p=2",
    "dragonfly:a=2,h=1,p=1",
    "dragonfly:a=1,h=4,p=1",
    "dragonfly:a=3,h=3",
    "dragonfly:a=4,h=2,p=1,g=5",
    "dragonfly:a=4,h=2,p=1,g=8",
    "dragonfly:a=3,h=1,p=1,g=3",
    "dragonfly:a=3,h=3,p=1,g=7",
    "dragonfly:a=5,h=3,p=2,g=11",
    "dragonfly:a=4,h=2,p=1,g=2",
    "dragonfly:a=8,h=4,p=4,g=9",
    "hyperx:4x3",
    "hyperx:2x2x2",
    "hyperx:5",
    "hyperx:3x4x2,p=3",
    "complete:2",
    "complete:7,p=2",
};

class EveryFamily : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Small, EveryFamily, testing::ValuesIn(small_networks));

TEST_P(EveryFamily, DistanceIsThatOfTheSearch) {
  const Topology t = make(GetParam());
  for (std::uint32_t a = 0; a < t.graph.router_count(); ++a) {
    const auto searched = distances_from(t.graph, RouterId(a));
    for (std::uint32_t b = 0; b < t.graph.router_count(); ++b)
      ASSERT_EQ(distance(t, RouterId(a), RouterId(b)), searched[b])
          << router_name(t, RouterId(a)) << " to " << router_name(t, RouterId(b));
  }
}

TEST_P(EveryFamily, NamesAndCoordinatesGoBothWays) {
  const Topology t = make(GetParam());
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < t.graph.router_count(); ++i) {
    const RouterId r(i);
    EXPECT_EQ(find_router(t, coordinates(t, r)), r);
    const auto found = find_router(t, router_name(t, r));
    ASSERT_TRUE(found) << router_name(t, r);
    EXPECT_EQ(*found, r);
    EXPECT_TRUE(names.insert(router_name(t, r)).second);
  }
  for (std::uint32_t i = 0; i < t.graph.node_count(); ++i)
    EXPECT_EQ(*find_node(t, node_name(t, NodeId(i))), NodeId(i));
}

TEST_P(EveryFamily, ItsNameMakesItAgain) {
  const Topology t = make(GetParam());
  const Topology again = make(t.name);
  EXPECT_EQ(again.name, t.name);
  EXPECT_EQ(again.graph.cable_count(), t.graph.cable_count());
  EXPECT_EQ(again.graph.node_count(), t.graph.node_count());
}

TEST_P(EveryFamily, NodesAreCountedRouterByRouter) {
  const Topology t = make(GetParam());
  for (std::uint32_t n = 1; n < t.graph.node_count(); ++n)
    EXPECT_GE(t.graph.router_of(NodeId(n)), t.graph.router_of(NodeId(n - 1)));
}

TEST(Topology, EveryKindHasAnExampleThatWorks) {
  for (const TopologyKind& kind : topology_kinds()) {
    EXPECT_TRUE(kind.usage.starts_with(kind.name));
    if (kind.example.empty()) continue;
    EXPECT_TRUE(make_topology(kind.example)) << kind.example;
  }
}

TEST(Topology, CubePortsGoUpAndDown) {
  const Topology t = make("cube:4x3,wrap=10");
  const RouterId corner(3);  // (3,0)
  EXPECT_EQ(t.graph.ports(corner)[Lattice::up_port(0)].peer, RouterId(0));
  EXPECT_EQ(t.graph.ports(corner)[Lattice::down_port(0)].peer, RouterId(2));
  EXPECT_EQ(t.graph.ports(corner)[Lattice::up_port(1)].peer, RouterId(7));
  EXPECT_FALSE(t.graph.ports(corner)[Lattice::down_port(1)].connected());
  EXPECT_EQ(t.graph.link_classes(), (std::vector<std::string>{"x", "y"}));
  const Topology two = make("torus:2x4");
  EXPECT_FALSE(two.shape->lattice()->wrap[0]);
  EXPECT_TRUE(two.shape->lattice()->wrap[1]);
}

// Port by port what topology.hpp says of parents and children.
TEST(Topology, FatTreePortsFollowTheDigits) {
  for (const char* spec : {"xgft:m=3x2x4,w=1x2x3", "fattree:k=3,levels=3"}) {
    const Topology t = make(spec);
    const SwitchTree& shape = *t.shape->tree();
    const auto levels = static_cast<std::size_t>(shape.levels());
    for (std::uint32_t i = 0; i < t.graph.router_count(); ++i) {
      const Coordinates c = coordinates(t, RouterId(i));
      const auto level = static_cast<std::size_t>(c[0]);
      if (level == levels) continue;
      const int below = level == 1 ? 0 : shape.children[level - 1];
      ASSERT_EQ(static_cast<int>(t.graph.ports(RouterId(i)).size()), below + shape.parents[level]);
      for (int q = 0; q < shape.parents[level]; ++q) {
        const Port& up = t.graph.ports(RouterId(i))[static_cast<std::size_t>(below + q)];
        Coordinates parent = c;
        parent[0] = c[0] + 1;
        const std::size_t digit = levels - level;  // Where digit level+1 stands.
        parent[digit] = q;
        EXPECT_EQ(up.peer, find_router(t, parent));
        EXPECT_EQ(up.peer_port, c[digit]);
      }
    }
  }
}

TEST(Topology, FatTreesHaveTheSizesOfTheTextbook) {
  EXPECT_EQ(make("fattree:radix=36,levels=2").graph.node_count(), 648u);
  EXPECT_EQ(make("fattree:radix=36,levels=2").graph.router_count(), 54u);
  EXPECT_EQ(make("fattree:radix=36,levels=3").graph.node_count(), 11664u);
  EXPECT_EQ(make("fattree:k=4,levels=3").graph.router_count(), 48u);
  EXPECT_EQ(make("fattree:k=4,levels=3").graph.node_count(), 64u);
}

TEST(Topology, DragonflyPortsAreAsDescribed) {
  const Topology t = make("dragonfly:a=4,h=2,p=2");
  for (std::uint32_t i = 0; i < t.graph.router_count(); ++i) {
    const Coordinates c = coordinates(t, RouterId(i));
    const auto ports = t.graph.ports(RouterId(i));
    for (int q = 0; q < 4; ++q) {
      if (q == c[1]) continue;
      EXPECT_EQ(ports[static_cast<std::size_t>(q < c[1] ? q : q - 1)].peer,
                find_router(t, Coordinates{c[0], q}));
    }
    for (int port = 3; port < 5; ++port) {
      const int j = c[1] * 2 + port - 3;
      const int group = j < c[0] ? j : j + 1;
      EXPECT_EQ(coordinates(t, ports[static_cast<std::size_t>(port)].peer)[0], group);
    }
  }
}

TEST(Topology, FewerGroupsShareTheGlobalCablesEvenly) {
  for (int a = 1; a <= 5; ++a)
    for (int h = 1; h <= 4; ++h)
      for (int g = 2; g <= a * h + 1; ++g) {
        const std::string spec = "dragonfly:a=" + std::to_string(a) + ",h=" + std::to_string(h) +
                                 ",p=1,g=" + std::to_string(g);
        const Topology t = make(spec);
        std::map<std::pair<int, int>, int> between;
        int unplugged = 0;
        for (std::uint32_t i = 0; i < t.graph.router_count(); ++i)
          for (const Port& p : t.graph.ports(RouterId(i))) {
            if (!p.connected()) {
              ++unplugged;
              continue;
            }
            if (p.link_class == 1)
              ++between[{coordinates(t, RouterId(i))[0], coordinates(t, p.peer)[0]}];
          }
        const int low = a * h / (g - 1);
        const int high = (a * h + g - 2) / (g - 1);
        for (int x = 0; x < g; ++x)
          for (int y = 0; y < g; ++y) {
            if (x == y) continue;
            const int cables = between[{x, y}];
            EXPECT_TRUE(cables == low || cables == high) << spec << " has " << cables;
          }
        EXPECT_EQ(unplugged, a * h * g % 2) << spec;
      }
}

TEST(Topology, BrokenCablesMakeWaysLonger) {
  Topology t = make("ring:6");
  const LinkId broken[] = {t.graph.link(RouterId(0), Lattice::up_port(0))};
  t.graph = Graph::with_down(std::move(t.graph), broken);
  EXPECT_EQ(distance(t, RouterId(0), RouterId(1)), 5);
  const LinkId more[] = {t.graph.link(RouterId(3), Lattice::up_port(0))};
  t.graph = Graph::with_down(std::move(t.graph), more);
  EXPECT_EQ(distance(t, RouterId(0), RouterId(1)), -1);
  EXPECT_FALSE(shortest_path(t.graph, RouterId(0), RouterId(1)));
  EXPECT_EQ(shortest_path(t.graph, RouterId(1), RouterId(3))->size(), 2u);
}

TEST(Topology, UnknownNamesAreExplained) {
  const Topology t = make("torus:4x4");
  EXPECT_EQ(find_router(t, "(4,0)").error().message(),
            "no router '(4,0)' in torus:4x4; they are called '(0,0)' to '(3,3)'");
  EXPECT_EQ(find_node(t, "n16").error().message(),
            "no node 'n16' in torus:4x4; they are called 'n0' to 'n15'");
  for (const char* bad : {"", "n", "n-1", "n01", "m1", "n 1", "n99999999999999999999"})
    EXPECT_FALSE(find_node(t, bad)) << bad;
  for (const char* bad : {"", "()", "(0)", "(0,0,0)", "(0,0", "0,0", "(-1,0)", "(0,x)"})
    EXPECT_FALSE(find_router(t, bad)) << bad;
  const Topology tree = make("fattree:k=2,levels=2");
  for (const char* bad : {"L0.0", "L3.0", "L1.2", "L1", "1.0", "L1.-1", "L.", "Lx.y"})
    EXPECT_FALSE(find_router(tree, bad)) << bad;
  const Topology fly = make("dragonfly:a=2,h=1");
  for (const char* bad : {"g0", "g3.r0", "g0.r2", "g0.2", "r0", "g.r"})
    EXPECT_FALSE(find_router(fly, bad)) << bad;
  EXPECT_EQ(find_router(fly, Coordinates{0, 2}), std::nullopt);
  EXPECT_EQ(find_router(fly, Coordinates{0}), std::nullopt);
}

TEST(Topology, SixtyFiveThousandRoutersAreQuick) {
  const Topology t = make("torus:64x32x32");
  EXPECT_EQ(t.graph.cable_count(), 3u * 65536u);
  EXPECT_EQ(distance(t, RouterId(0), RouterId(65535)), 3);
}

}  // namespace
}  // namespace weft
