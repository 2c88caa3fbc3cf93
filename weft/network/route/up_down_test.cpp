// SPDX-License-Identifier: Apache-2.0
// How well `up-down` ranks routers: mean path length and the busiest link, against what an order by
// distance from the centre gave.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/path.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

struct Load {
  double mean_hops = 0;  // Over ordered pairs of different nodes.
  int busiest = 0;       // Pairs whose path crosses the busiest link.
};

Load load_of(const Topology& t) {
  const auto policy = make_policy("up-down", t, 1);
  EXPECT_TRUE(policy) << policy.error().text();
  std::vector<int> pairs(t.graph.link_count(), 0);
  std::vector<LinkId> links;
  double hops = 0;
  const std::uint32_t nodes = t.graph.node_count();
  for (std::uint32_t a = 0; a < nodes; ++a)
    for (std::uint32_t b = 0; b < nodes; ++b) {
      EXPECT_TRUE(follow_path(**policy, t.graph, NodeId(a), NodeId(b), links));
      hops += static_cast<double>(links.size());
      for (const LinkId link : links) ++pairs[link.index];
    }
  return {hops / nodes / (nodes - 1), *std::max_element(pairs.begin(), pairs.end())};
}

TEST(UpDown, RanksBetterThanByDistance) {
  const struct {
    std::string_view spec;
    double mean_hops;
    int busiest;
  } by_distance[] = {{"torus:8x8", 4.572, 269},       {"torus:4x4x4", 3.048, 126},
                     {"mesh:6x6", 4.001, 142},        {"slimfly:q=5,p=1", 2.239, 73},
                     {"random:n=50,d=5", 2.909, 134}, {"xpander:d=4,lift=10", 3.596, 214},
                     {"polarfly:q=7,p=1", 2.124, 49}, {"dragonfly:a=4,h=2,p=2", 2.514, 134}};
  for (const auto& old : by_distance) {
    const Load now = load_of(test_network(old.spec));
    EXPECT_LE(now.mean_hops, old.mean_hops) << old.spec;
    EXPECT_LT(now.busiest, old.busiest) << old.spec;
  }
  EXPECT_LE(load_of(test_network("fattree:k=4,levels=2")).busiest, 19);
  EXPECT_LE(load_of(test_network("fattree:k=3,levels=3")).busiest, 33);
}

// A cable less must not look like a gain, by more than the luck of a search among few rankings.
TEST(UpDown, IsNotBetterWithABrokenCable) {
  const Topology whole = test_network("torus:8x8");
  const Load before = load_of(whole);
  for (const std::uint32_t link : {0u, 9u, 100u, 171u}) {
    const Load broken = load_of(break_cables(whole, {LinkId(link)}));
    EXPECT_GE(broken.busiest, before.busiest * 0.95) << link;
    EXPECT_GE(broken.mean_hops, before.mean_hops * 0.99) << link;
  }
}

}  // namespace
}  // namespace weft
