// SPDX-License-Identifier: Apache-2.0
// Fat trees with cables down. That packets arrive and cannot deadlock is judged by
// conformance_test.cpp.
#include "weft/network/route/tree_reach.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/path.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

using detail::TreeReach;

// The cable from a switch to its parent of this number.
LinkId up_cable(const Topology& t, const char* from, const char* to) {
  const RouterId a = *find_router(t, std::string_view(from));
  const RouterId b = *find_router(t, std::string_view(to));
  const auto ports = t.graph.ports(a);
  for (std::size_t p = 0; p < ports.size(); ++p)
    if (ports[p].peer == b) return t.graph.link(a, static_cast<int>(p));
  ADD_FAILURE() << "no cable " << from << "-" << to;
  return LinkId(0);
}

// Is there a way up and then down? By search, for comparison.
bool leads(const Topology& t, RouterId from, RouterId leaf, bool falling) {
  if (from == leaf) return true;
  const int level = coordinates(t, from)[0];
  for (const Port& port : t.graph.ports(from)) {
    if (!port.usable()) continue;
    const bool down = coordinates(t, port.peer)[0] < level;
    if ((down || !falling) && leads(t, port.peer, leaf, falling || down)) return true;
  }
  return false;
}

TEST(TreeReach, IsWhatASearchFinds) {
  for (const std::string_view spec :
       {"fattree:k=2,levels=3", "fattree:radix=6,levels=3", "fattree:k=4,levels=2,taper=2"}) {
    const Topology whole = test_network(spec);
    for (std::uint32_t first = 0; first < 12; ++first) {
      std::vector<LinkId> down;
      for (std::uint32_t i = 0; i <= first; ++i)
        down.push_back(LinkId((first * 7 + i * 5) % whole.graph.link_count()));
      const Topology t = break_cables(whole, down);
      const TreeReach reach(t);
      const std::uint32_t leaves = t.shape->tree()->leaves();
      bool all = true;
      for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
        for (std::uint32_t r = 0; r < t.graph.router_count(); ++r) {
          const bool expected = leads(t, RouterId(r), RouterId(leaf), false);
          EXPECT_EQ(reach.leads(RouterId(r), RouterId(leaf)), expected)
              << spec << " from " << router_name(t, RouterId(r)) << " to leaf " << leaf;
          all &= expected || r >= leaves;
        }
      EXPECT_EQ(reach.reaches_all(), all) << spec;
    }
  }
}

int busiest(const Topology& t, std::string_view routing) {
  return pairs_on_busiest_link(t, routing, vcs_usual(routing, t));
}

TEST(BrokenTree, KeepsItsRoutingAndSpreadsTheLoad) {
  const Topology whole = test_network("fattree:k=8,levels=2");
  const Topology broken = break_cables(whole, {up_cable(whole, "L1.3", "L2.5")});
  EXPECT_EQ(default_routing(broken), "dest-down");
  for (const std::string_view routing : {"dest-down", "source-up"})
    EXPECT_LE(busiest(broken, routing), busiest(whole, routing) * 3 / 2) << routing;
}

// The ranking that layers build on begins at the top of a tree, not at one of its spines.
TEST(BrokenTree, DoesNotMeetAtOneSpineOnShortestPaths) {
  const Topology whole = test_network("fattree:k=8,levels=2");
  const Topology broken = break_cables(whole, {up_cable(whole, "L1.3", "L2.5")});
  EXPECT_EQ(vcs_usual("shortest", whole), 1);
  EXPECT_EQ(vcs_usual("shortest", broken), 1);
  EXPECT_LE(busiest(whole, "shortest"), 2 * busiest(whole, "dest-down"));
  EXPECT_LE(busiest(broken, "shortest"), 2 * busiest(whole, "dest-down"));
}

// Two leaves without a spine in common are still joined, but not by going up and then down.
TEST(BrokenTree, TakesAnotherRoutingWhereItMust) {
  const Topology whole = test_network("fattree:k=2,levels=2");
  const Topology broken =
      break_cables(whole, {up_cable(whole, "L1.0", "L2.0"), up_cable(whole, "L1.1", "L2.1")});
  // With two leaves only the nodes would be cut off.
  const Topology wide = test_network("xgft:m=2x4,w=1x2");
  const Topology valley =
      break_cables(wide, {up_cable(wide, "L1.0", "L2.0"), up_cable(wide, "L1.1", "L2.1")});
  EXPECT_FALSE(TreeReach(broken).reaches_all());
  EXPECT_FALSE(TreeReach(valley).reaches_all());
  EXPECT_EQ(default_routing(valley), "shortest");
}

}  // namespace
}  // namespace weft
