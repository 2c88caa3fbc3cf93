// SPDX-License-Identifier: Apache-2.0
// Random regular graphs, Jellyfish and Xpander: regular, simple, connected, and the same
// everywhere.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {
namespace {

Topology make(const std::string& spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

std::string error_of(const std::string& spec) {
  const auto made = make_topology(spec);
  return made ? "no error" : made.error().text();
}

std::vector<std::uint32_t> peers(const Topology& t) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t l = 0; l < t.graph.link_count(); ++l)
    all.push_back(t.graph.port(LinkId(l)).peer.index);
  return all;
}

void expect_regular(const Topology& t, std::uint32_t routers, std::size_t degree) {
  ASSERT_EQ(t.graph.router_count(), routers) << t.name;
  for (std::uint32_t r = 0; r < routers; ++r) {
    const auto ports = t.graph.ports(RouterId(r));
    EXPECT_EQ(ports.size(), degree) << t.name << " at " << r;
    std::set<std::uint32_t> seen;
    for (const Port& p : ports) {
      EXPECT_NE(p.peer.index, r) << t.name;
      EXPECT_TRUE(seen.insert(p.peer.index).second) << t.name << ": two cables to one router";
    }
  }
  const Status connected = validate(t);
  EXPECT_TRUE(connected) << connected.error().text();
}

TEST(RandomGraph, IsRegularSimpleAndConnected) {
  for (const std::uint32_t n : {2u, 3u, 4u, 5u, 8u, 9u, 16u, 40u})
    for (std::uint32_t d = 1; d < n; ++d) {
      if (n * d % 2 == 1 || (d == 1 && n > 2)) continue;
      for (const std::uint32_t seed : {0u, 1u, 2u, 3u})
        expect_regular(make("random:n=" + std::to_string(n) + ",d=" + std::to_string(d) +
                            ",seed=" + std::to_string(seed)),
                       n, d);
    }
  expect_regular(make("random:n=200,d=10,seed=1"), 200, 10);
  expect_regular(make("random:n=2000,d=2"), 2000, 2);  // One ring of many that were drawn.
}

// On every machine: the bytes of a run depend on it.
TEST(RandomGraph, IsTheSameForTheSameSeed) {
  EXPECT_EQ(peers(make("random:n=50,d=5,seed=7")), peers(make("random:n=50,d=5,seed=7")));
  EXPECT_NE(peers(make("random:n=50,d=5,seed=7")), peers(make("random:n=50,d=5,seed=8")));
  EXPECT_EQ(peers(make("random:n=6,d=3,seed=1")),
            (std::vector<std::uint32_t>{2, 4, 5, 3, 4, 5, 0, 3, 4, 1, 2, 5, 0, 1, 2, 0, 1, 3}));
  EXPECT_EQ(peers(make("random:n=8,d=3,seed=1")),
            (std::vector<std::uint32_t>{1, 2, 3, 0, 6, 7, 0, 3, 4, 0, 2, 5,
                                        2, 5, 7, 3, 4, 6, 1, 5, 7, 1, 4, 6}));
  EXPECT_EQ(peers(make("xpander:d=3,lift=2,seed=1")),
            (std::vector<std::uint32_t>{3, 5, 7, 2, 4, 6, 1, 5, 7, 0, 4, 6,
                                        1, 3, 7, 0, 2, 6, 1, 3, 5, 0, 2, 4}));
}

TEST(RandomGraph, JellyfishIsTheSameNetwork) {
  const Topology jellyfish = make("jellyfish:n=20,ports=9,p=4,seed=3");
  const Topology random = make("random:n=20,d=5,p=4,seed=3");
  EXPECT_EQ(peers(jellyfish), peers(random));
  EXPECT_EQ(jellyfish.graph.node_count(), 80u);
  EXPECT_EQ(jellyfish.name, "jellyfish:n=20,ports=9,seed=3,p=4");
}

TEST(RandomGraph, RefusesWhatCannotBe) {
  EXPECT_EQ(error_of("random:n=15,d=3"),
            "random:n=15,d=3: 15 routers with 3 cables each would leave one end over; "
            "14 or 16 routers do not");
  EXPECT_EQ(error_of("random:n=8,d=8"),
            "random:n=8,d=8: 8 routers have at most 7 cables each, not 8");
  EXPECT_EQ(error_of("random:n=8,d=1"),
            "random:n=8,d=1: 8 routers with one cable each are not connected; "
            "at least 2 are needed");
  EXPECT_EQ(error_of("jellyfish:n=8,ports=4,p=4"),
            "jellyfish:n=8,ports=4,p=4: 4 nodes leave none of 4 ports for cables between switches");
  EXPECT_EQ(error_of("random:n=8"),
            "random:n=8: 'd' is missing; write "
            "random:n=N,d=N[,seed=N][,p=N]");
  EXPECT_NE(error_of("random:n=16777216,d=40").find("are possible"), std::string::npos);
}

TEST(Xpander, IsALiftOfTheCompleteGraph) {
  for (const std::uint32_t d : {3u, 4u, 7u})
    for (const std::uint32_t lift : {1u, 2u, 5u, 16u}) {
      const Topology t =
          make("xpander:d=" + std::to_string(d) + ",lift=" + std::to_string(lift) + ",seed=4");
      expect_regular(t, (d + 1) * lift, d);
      for (std::uint32_t r = 0; r < t.graph.router_count(); ++r) {
        std::set<std::uint32_t> parts{r / lift};
        for (const Port& p : t.graph.ports(RouterId(r))) parts.insert(p.peer.index / lift);
        EXPECT_EQ(parts.size(), d + 1) << t.name << ": a cable to each of the other parts";
      }
    }
  EXPECT_EQ(error_of("xpander:d=2,lift=3"),
            "xpander:d=2,lift=3: 'd' is 2, but must be from 3 to 65535");
}

}  // namespace
}  // namespace weft
