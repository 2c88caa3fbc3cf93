// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/graph_file.hpp"

#include <gtest/gtest.h>

#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

TEST(GraphFile, ReadsAllRecords) {
  const auto t = read_graph_text(
      "weft-graph 1\r\n"
      "# two switches\n"
      "router left  # with a comment\n"
      "router right.side ports=4\n"
      "\n"
      "node host-1 left\n"
      "node host-2 right.side\n"
      "link left right.side class=fast\n"
      "link left.0 right.side.2 down\n"
      "link left right.side\n",
      "net");
  ASSERT_TRUE(t) << t.error().text();
  const Graph& g = t->graph;
  EXPECT_EQ(g.router_count(), 2u);
  EXPECT_EQ(g.cable_count(), 3u);
  EXPECT_EQ(g.down_count(), 1u);
  EXPECT_EQ(g.link_classes(), (std::vector<std::string>{"fast", "link"}));
  EXPECT_EQ(g.ports(RouterId(1)).size(), 4u);
  EXPECT_FALSE(g.ports(RouterId(0))[0].up);
  EXPECT_EQ(g.ports(RouterId(0))[0].peer_port, 2);
  EXPECT_EQ(g.ports(RouterId(0))[1].peer_port, 0);  // The lowest that is free.
  EXPECT_EQ(distance(*t, RouterId(0), RouterId(1)), 1);
  EXPECT_EQ(*find_router(*t, "right.side"), RouterId(1));
  EXPECT_EQ(find_node(*t, "host-3").error().message(),
            "no node 'host-3' in net; did you mean 'host-1'?");
}

TEST(GraphFile, ErrorsSayWhere) {
  struct Case {
    std::string body, message;
  };
  const Case cases[] = {
      {"ruter a", "f:2: unknown record 'ruter'; did you mean 'router'?"},
      {"router", "f:2: write: router NAME [ports=N]"},
      {"router a b", "f:2: 'b' must be ports=N, N from 0 to 65535"},
      {"router a ports=70000", "f:2: 'ports=70000' must be ports=N, N from 0 to 65535"},
      {"router a\nrouter a", "f:3: router 'a' is declared twice"},
      {"router a\nrouter a.1", "f:3: router 'a.1' could be taken for a port of router 'a'"},
      {"router a.1\nrouter a", "f:3: router 'a.1' could be taken for a port of router 'a'"},
      {"router a\nnode n b", "f:3: router 'b' is not declared; known: a"},
      {"router left\nnode n lift", "f:3: router 'lift' is not declared; did you mean 'left'?"},
      {"router a\nnode n a\nnode n a", "f:4: node 'n' is declared twice"},
      {"router a\nnode n", "f:3: write: node NAME ROUTER"},
      {"router a\nlink a a", "f:3: a link joins router 'a' to itself"},
      {"router a\nlink a", "f:3: write: link ROUTER[.PORT] ROUTER[.PORT] [class=NAME] [down]"},
      {"router a\nlink a.0 b.0", "f:3: router 'b' is not declared; known: a"},
      {"router a\nrouter b\nlink a b dwon", "f:4: unknown word 'dwon'; did you mean 'down'?"},
      {"router a\nrouter b\nlink a.x b", "f:4: router 'a.x' is not declared; known: a, b"},
      {"router a\nrouter b\nlink a.-1 b", "f:4: port -1 must be from 0 to 65534"},
      {"router a\nrouter b\nlink a.99999 b", "f:4: port 99999 must be from 0 to 65534"},
      {"router a\nrouter b\nlink a.0 b\nlink a.0 b", "f:5: port 0 of router 'a' is used twice"},
      {"# nothing", "f: a network needs at least one router"},
      {"router a\xff", "f:2: not UTF-8 text"},
      {std::string("router a\0b", 10), "f:2: not UTF-8 text"},
  };
  for (const Case& c : cases) {
    const auto t = read_graph_text("weft-graph 1\n" + c.body + "\n", "f");
    ASSERT_FALSE(t) << c.body;
    EXPECT_EQ(t.error().text(), c.message);
  }
  EXPECT_EQ(read_graph_text("", "f").error().text(), "f:1: the first line must be 'weft-graph 1'");
  EXPECT_EQ(read_graph_text("weft-graph 2\n", "f").error().text(),
            "f:1: the first line must be 'weft-graph 1'");
  EXPECT_FALSE(read_graph_file("/nonexistent/file"));
}

TEST(GraphFile, RoundTripKeepsEveryPort) {
  for (const char* spec : {"torus:3x4,p=2", "mesh:3x3", "fattree:k=3,levels=3", "hyperx:3x4",
                           "dragonfly:a=3,h=3,p=1,g=7"}) {
    auto made = make_topology(spec);
    const LinkId broken[] = {LinkId(made->graph.link(RouterId(1), 1))};
    made->graph = Graph::with_down(std::move(made->graph), broken);
    const std::string text = write_graph_text(*made);
    const auto read = read_graph_text(text, spec);
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(read->graph.link_count(), made->graph.link_count());
    EXPECT_EQ(read->graph.down_count(), 1u);
    for (std::uint32_t i = 0; i < made->graph.link_count(); ++i) {
      const Port& a = made->graph.port(LinkId(i));
      const Port& b = read->graph.port(LinkId(i));
      EXPECT_EQ(a.peer, b.peer);
      if (!a.connected()) continue;
      EXPECT_EQ(a.peer_port, b.peer_port);
      EXPECT_EQ(a.up, b.up);
      EXPECT_EQ(made->graph.link_classes()[a.link_class], read->graph.link_classes()[b.link_class]);
    }
    for (std::uint32_t n = 0; n < made->graph.node_count(); ++n)
      EXPECT_EQ(made->graph.router_of(NodeId(n)), read->graph.router_of(NodeId(n)));
    EXPECT_EQ(write_graph_text(*read), text);
  }
}

}  // namespace
}  // namespace weft
