// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/graph.hpp"

#include <functional>

#include <gtest/gtest.h>

namespace weft {
namespace {

// Three routers in a row, a node at each end.
Graph::Parts row() {
  Graph::Parts p;
  p.port_count = {1, 2, 1};
  p.cables = {{RouterId(0), 0, RouterId(1), 0}, {RouterId(1), 1, RouterId(2), 0}};
  p.router_of = {RouterId(0), RouterId(2), RouterId(0)};
  p.link_classes = {"wire"};
  return p;
}

TEST(Graph, AnswersBothWays) {
  const auto g = Graph::make(row());
  ASSERT_TRUE(g) << g.error().text();
  EXPECT_EQ(g->router_count(), 3u);
  EXPECT_EQ(g->link_count(), 4u);
  EXPECT_EQ(g->cable_count(), 2u);
  for (std::uint32_t i = 0; i < g->link_count(); ++i) {
    const Port& there = g->port(LinkId(i));
    const Port& back = g->ports(there.peer)[there.peer_port];
    EXPECT_EQ(back.peer, g->source_of(LinkId(i)));
    EXPECT_EQ(g->link(back.peer, back.peer_port), LinkId(i));
  }
  EXPECT_EQ(g->nodes_at(RouterId(0)).size(), 2u);
  EXPECT_TRUE(g->nodes_at(RouterId(1)).empty());
  EXPECT_EQ(g->local_index(NodeId(2)), 1);
}

TEST(Graph, BreaksBothEndsOfACable) {
  const auto made = Graph::make(row());
  const LinkId broken[] = {LinkId(2), LinkId(3)};  // The two directions of one cable.
  const Graph g = Graph::with_down(*made, broken);
  EXPECT_EQ(g.down_count(), 1u);
  EXPECT_FALSE(g.all_up());
  EXPECT_TRUE(made->all_up());
  EXPECT_FALSE(g.ports(RouterId(1))[1].usable());
  EXPECT_FALSE(g.ports(RouterId(2))[0].usable());
  EXPECT_TRUE(g.ports(RouterId(0))[0].usable());
}

TEST(Graph, FindsNames) {
  auto parts = row();
  parts.router_names = {"west", "mid", "east"};
  parts.node_names = {"b", "a", "c"};
  const auto g = Graph::make(parts);
  ASSERT_TRUE(g) << g.error().text();
  EXPECT_EQ(g->find_router("mid"), RouterId(1));
  EXPECT_EQ(g->find_router("x"), std::nullopt);
  EXPECT_EQ(g->find_node("a"), NodeId(1));
}

TEST(Graph, RefusesWhatBreaksAPromise) {
  struct Case {
    std::function<void(Graph::Parts&)> spoil;
    std::string message;
  };
  const Case cases[] = {
      {[](auto& p) { p = {}; }, "a network needs at least one router"},
      {[](auto& p) { p.cables[1].a_port = 2; },
       "port 2 of router 1 does not exist; it has 2 ports"},
      {[](auto& p) { p.cables[1].a_port = 0; }, "port 0 of router 1 is used twice"},
      {[](auto& p) { p.cables[1].b = RouterId(3); },
       "a cable ends at router 3, but there are only 3 routers"},
      {[](auto& p) {
         p.cables[0] = {RouterId(1), 0, RouterId(1), 1};
         p.cables.pop_back();
       },
       "a cable joins router 1 to itself (ports 0 and 1)"},
      {[](auto& p) {
         p.cables[0] = {RouterId(1), 0, RouterId(1), 0};
       },
       "both ends of a cable are port 0 of router 1"},
      {[](auto& p) { p.cables[0].link_class = 1; },
       "a cable of router 0 has link class 1, but there are only 1"},
      {[](auto& p) { p.link_classes.resize(256); },
       "256 link classes, but at most 255 are possible"},
      {[](auto& p) { p.router_of[1] = RouterId(9); },
       "node 1 hangs on router 9, but there are only 3 routers"},
      {[](auto& p) { p.router_of.assign(65536, RouterId(0)); },
       "router 0 has more than 65535 nodes"},
      {[](auto& p) { p.router_names = {"a"}; }, "1 names for 3 routers"},
      {[](auto& p) {
         p.router_names = {"a", "b", "a"};
       },
       "two routers have the name 'a'"},
      {[](auto& p) {
         p.node_names = {"a", "b"};
       },
       "2 names for 3 nodes"},
      {[](auto& p) {
         p.node_names = {"a", "b", "b"};
       },
       "two nodes have the name 'b'"},
  };
  for (const Case& c : cases) {
    auto parts = row();
    c.spoil(parts);
    const auto made = Graph::make(parts);
    ASSERT_FALSE(made) << c.message;
    EXPECT_EQ(made.error().message(), c.message);
  }
}

}  // namespace
}  // namespace weft
