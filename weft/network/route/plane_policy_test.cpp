// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/plane_policy.hpp"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/path.hpp>
#include <weft/network/topo/planes.hpp>

namespace weft {
namespace {

Topology net(const std::string& spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

// Every policy that fits takes packets of a copy the way that it takes them in the network alone.
TEST(PlanePolicy, EachCopyIsRoutedAsIfAlone) {
  for (const char* const spec : {"torus:4x3,p=2", "mesh:3x3", "fattree:k=3,levels=3",
                                 "dragonfly:a=4,h=2,p=2", "hyperx:3x4,p=2", "random:n=12,d=3"}) {
    const Topology one = net(spec);
    const Topology all = net(std::string(spec) + ",planes=2");
    EXPECT_EQ(default_routing(all), default_routing(one));
    int fitting = 0;
    for (const PolicyEntry& entry : builtin_policies()) {
      const int vcs = vcs_usual(entry.name, one);
      EXPECT_EQ(vcs_usual(entry.name, all), vcs) << entry.name;
      EXPECT_EQ(vcs_needed(entry.name, all), vcs_needed(entry.name, one)) << entry.name;
      const auto single = make_policy(entry.name, one, std::max(1, vcs));
      const auto both = make_policy(entry.name, all, std::max(1, vcs));
      ASSERT_EQ(single.has_value(), both.has_value()) << entry.name;
      if (!single) continue;
      ++fitting;
      EXPECT_EQ((*both)->facts().hops_max, (*single)->facts().hops_max);
      EXPECT_EQ((*both)->facts().in_order, (*single)->facts().in_order);
      EXPECT_EQ((*both)->lines() == nullptr, (*single)->lines() == nullptr);
      std::vector<LinkId> way, alone;
      for (std::uint32_t a = 0; a < one.graph.node_count(); ++a)
        for (std::uint32_t b = 0; b < one.graph.node_count(); ++b)
          for (std::uint32_t card = 0; card < 2; ++card) {
            ASSERT_TRUE(follow_path(**single, one.graph, NodeId(a), NodeId(b), alone));
            ASSERT_TRUE(
                follow_path(**both, all.graph, NodeId(2 * a + card), NodeId(2 * b + card), way));
            ASSERT_EQ(way.size(), alone.size());
            for (std::size_t i = 0; i < way.size(); ++i)
              EXPECT_EQ(way[i].index, alone[i].index + card * one.graph.link_count());
          }
    }
    EXPECT_GE(fitting, 3) << spec;
  }
}

TEST(PlanePolicy, NoPacketCrosses) {
  const Topology all = net("torus:4x4,planes=2");
  const auto policy = make_policy("shortest", all, 4);
  ASSERT_TRUE(policy);
  std::vector<LinkId> way;
  EXPECT_FALSE(follow_path(**policy, all.graph, NodeId(0), NodeId(5), way));
  EXPECT_TRUE(follow_path(**policy, all.graph, NodeId(1), NodeId(5), way));
}

// Card 1 of every node is at the second leaf, so numbers of nodes spread over spines as they do in
// the plain tree.
TEST(PlanePolicy, RailsKeepTheTreesOwnNumbers) {
  const Topology one = net("fattree:k=4,levels=2");
  const Topology all = net("fattree:k=4,levels=2,rails=4");
  for (const char* const routing : {"dest-down", "source-up"}) {
    const auto single = make_policy(routing, one, 1);
    const auto both = make_policy(routing, all, 1);
    ASSERT_TRUE(single && both);
    std::vector<LinkId> way, alone;
    for (std::uint32_t e = 0; e < all.graph.node_count(); ++e)
      for (std::uint32_t f = 0; f < all.graph.node_count(); ++f) {
        const auto& end = all.shape->planes()->end;
        ASSERT_TRUE(follow_path(**single, one.graph, NodeId(end[e]), NodeId(end[f]), alone));
        ASSERT_TRUE(follow_path(**both, all.graph, NodeId(e), NodeId(f), way));
        EXPECT_EQ(way, alone);
      }
  }
}

TEST(PlanePolicy, ABrokenCableConcernsItsCopy) {
  Topology all = net("torus:4x4,planes=2");
  const RouterId here = *find_router(all, std::string_view("p1:(0,0)"));
  all.graph = Graph::with_down(std::move(all.graph), std::array{all.graph.link(here, 0)});
  EXPECT_EQ(default_routing(all), "dor-around");
  const auto policy = make_policy("dor-around", all, vcs_usual("dor-around", all));
  ASSERT_TRUE(policy) << policy.error().text();
  std::vector<LinkId> way;
  for (std::uint32_t a = 0; a < 16; ++a)
    for (std::uint32_t b = 0; b < 16; ++b)
      for (std::uint32_t card = 0; card < 2; ++card)
        EXPECT_TRUE(
            follow_path(**policy, all.graph, NodeId(2 * a + card), NodeId(2 * b + card), way));
  const auto straight = make_policy("dor", all, 2);
  ASSERT_TRUE(straight);
  EXPECT_TRUE(follow_path(**straight, all.graph, NodeId(0), NodeId(2), way));
  EXPECT_FALSE(follow_path(**straight, all.graph, NodeId(1), NodeId(3), way));
  EXPECT_NE(explain_no_way(all, here, NodeId(3)).find("the cable p1:(0,0)-p1:(1,0) is down"),
            std::string::npos);
}

TEST(PlanePolicy, ErrorsNameTheWholeNetwork) {
  const auto wrong = make_policy("dest-down", net("torus:4x4,planes=2"), 2);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message().find("routing 'dest-down' does not fit torus:4x4,planes=2"), 0u)
      << wrong.error().message();
}

}  // namespace
}  // namespace weft
