// SPDX-License-Identifier: Apache-2.0
// How many layers shortest paths need, and that more VCs mean more paths. That layers are free of
// deadlock is judged by conformance_test.cpp.
#include "weft/network/route/layered_paths.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/path.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

using detail::find_layers;
using detail::LayersNeeded;

TEST(Layers, AreFewWhereTheFamilyNeedsFew) {
  // From its centre every shortest way through a mesh goes up, then down; so does any in a tree.
  EXPECT_EQ(find_layers(test_network("mesh:5x5")).least, 1);
  EXPECT_EQ(find_layers(test_network("mesh:5x3x3")).least, 1);
  EXPECT_EQ(find_layers(test_network("torus:8x8")).least, 2);
  EXPECT_EQ(find_layers(test_network("torus:5x5x5")).least, 2);
  EXPECT_EQ(find_layers(test_network("slimfly:q=5,p=1")).least, 2);
  EXPECT_EQ(find_layers(test_network("polarfly:q=7,p=1")).least, 2);
  EXPECT_EQ(find_layers(test_network("complete:5")).least, 1);
}

TEST(Layers, AreNeverMoreThanHalfTheDiameterAndOne) {
  for (const std::string_view spec : test_network_specs()) {
    const Topology t = test_network(spec);
    const LayersNeeded needed = find_layers(t);
    // Routers without nodes may be farther from others than the diameter.
    int farthest = 0;
    std::vector<std::uint16_t> distances(t.graph.router_count());
    std::vector<RouterId> queue;
    for (std::uint32_t r = 0; r < t.graph.router_count(); ++r)
      farthest = std::max(farthest, detail::search(t.graph, RouterId(r), distances, queue));
    EXPECT_LE(needed.least, needed.all) << spec;
    EXPECT_LE(needed.all, 1 + farthest / 2) << spec;
    EXPECT_GE(needed.usual(), needed.least) << spec;
  }
}

int busiest(const Topology& t, int vcs) {
  return pairs_on_busiest_link(t, "shortest", vcs);
}

// With the fewest layers many packets must go by the root.
TEST(Layers, MoreOfThemSpreadTheLoad) {
  for (const std::string_view spec : {"torus:4x4x4", "hypercube:6", "mesh:6x6"}) {
    const Topology t = test_network(spec);
    const LayersNeeded needed = find_layers(t);
    ASSERT_LT(needed.least, needed.usual()) << spec;
    EXPECT_GT(busiest(t, needed.least), busiest(t, needed.usual()) * 5 / 4) << spec;
  }
}

TEST(Layers, AreAskedForByNumber) {
  const Topology t = test_network("slimfly:q=4,p=1");
  const auto message = [&](std::string_view name, int vcs) {
    const auto made = make_policy(name, t, vcs);
    return made ? std::string() : made.error().message();
  };
  EXPECT_EQ(message("shortest", 1),
            "routing 'shortest' on slimfly:q=4,p=1 needs at least 2 VCs to be free of deadlock, 1 "
            "given; set vcs = 2, or use up-down");
  EXPECT_EQ(message("ugal-l", 2),
            "routing 'ugal-l' on slimfly:q=4,p=1 needs at least 4 VCs to be free of deadlock, 2 "
            "given; set vcs = 4, or use shortest, up-down");
  EXPECT_EQ(vcs_needed("min-adaptive", t), 3);
  EXPECT_EQ(vcs_usual("valiant", t), 4);
}

}  // namespace
}  // namespace weft
