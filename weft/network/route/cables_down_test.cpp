// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/cables_down.hpp"

#include <gtest/gtest.h>

#include <weft/network/route/policy.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

Topology broken(std::string_view spec) {
  return break_cables(test_network(spec), {LinkId(0)});
}

std::string told(const Topology& t, std::string_view named = "") {
  const std::string routing = named.empty() ? default_routing(t) : std::string(named);
  return explain_other_routing(t, {routing, !named.empty(), vcs_usual(routing, t), false});
}

TEST(CablesDown, AnotherDefaultIsTold) {
  EXPECT_EQ(told(test_network("hyperx:4x3")), "");
  EXPECT_EQ(told(broken("hyperx:4x3")), "");
  EXPECT_EQ(told(broken("dragonfly:a=4,h=2,p=2")), "");
  EXPECT_EQ(told(broken("hyperx:2x3")),
            "routing is shortest (2 VCs) instead of minimal (1 VC), because cables are down");
  EXPECT_EQ(told(broken("mesh:4x4")),
            "routing is dor-around (2 VCs) instead of dor (1 VC), because cables are down");
  EXPECT_EQ(told(broken("fattree:k=4,levels=2")), "");
  EXPECT_EQ(told(broken("slimfly:q=4,p=1")), "");
}

TEST(CablesDown, OtherPathsOfTheSameRoutingAreTold) {
  EXPECT_EQ(told(test_network("hyperx:4x3"), "ugal-l"), "");
  EXPECT_EQ(told(broken("hyperx:4x3"), "ugal-l"), "");
  EXPECT_EQ(told(broken("hyperx:2x3"), "ugal-l"),
            "routing ugal-l takes shortest paths in layers of VCs (4 VCs) instead of the paths of "
            "hyperx:2x3 (2 VCs), because cables are down; a comparison with all cables up compares "
            "these, too");
  EXPECT_NE(told(broken("torus:4x4"), "min-adaptive"), "");
  EXPECT_NE(told(broken("torus:4x4"), "valiant"), "");
  for (const std::string_view same : {"shortest", "up-down", "dor-around"})
    EXPECT_EQ(told(broken("torus:4x4"), same), "") << same;
}

TEST(CablesDown, ARoutingThatMayMeetThemIsTold) {
  EXPECT_EQ(
      told(broken("hyperx:2x3"), "minimal"),
      "routing minimal ends the run when a packet meets a cable that is down; these go round: "
      "min-adaptive, valiant, ugal-l, shortest, up-down");
  EXPECT_NE(told(broken("torus:4x4"), "dor"), "");
  EXPECT_EQ(told(broken("fattree:k=4,levels=2"), "adaptive-up"), "");
}

TEST(CablesDown, VcsThatAreGivenNeedNoMention) {
  const Topology t = broken("hyperx:2x3");
  EXPECT_EQ(explain_other_routing(t, {"shortest", false, 4, true}),
            "routing is shortest instead of minimal, because cables are down");
}

}  // namespace
}  // namespace weft
