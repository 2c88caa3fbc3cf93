// SPDX-License-Identifier: Apache-2.0
#include "test_rig.hpp"

namespace weft {
namespace {

// Until the network says something of this kind; how many frames came before.
int await(const Fabric& fabric, Completion::Kind kind) {
  Completion completion;
  for (int frames = 0;; fabric.transport.wait(Time::never())) {
    while (fabric.transport.poll(completion)) {
      if (completion.kind == kind) return frames;
      frames += completion.kind == Completion::Kind::frame ? 1 : 0;
    }
  }
}

Rig two_ranks() {
  Rig rig;
  rig.net = "torus:2";
  rig.ranks = 2;
  rig.setup.node.connect_time = Duration::us(3);
  return rig;
}

// Each processor works for 3 us, one after the other if only one side asks, and a message goes each
// way; both at once need half of it.
TEST(Connections, OpenInTheTimeOfBothSides) {
  for (const bool both : {false, true}) {
    Rig rig = two_ranks();
    const std::int64_t end = rig.run([&](const Fabric& fabric) {
      const RankId peer(1 - fabric.self.index);
      EXPECT_TRUE(fabric.connections.needs_connection(peer));
      EXPECT_FALSE(fabric.connections.needs_connection(fabric.self));
      EXPECT_FALSE(fabric.connections.connected(peer));
      if (both || fabric.self.index == 0) fabric.connections.connect(peer);
      await(fabric, Completion::Kind::rail_up);
      EXPECT_TRUE(fabric.connections.connected(peer));
    });
    EXPECT_GT(end, both ? 3'000'000 : 6'000'000);
    EXPECT_LT(end, both ? 4'000'000 : 8'000'000);
  }
}

TEST(Connections, CloseAndOpenAgain) {
  Rig rig = two_ranks();
  const std::int64_t end = rig.run([&](const Fabric& fabric) {
    const RankId peer(1 - fabric.self.index);
    for (int i = 0; i < 5; ++i) {
      if (fabric.self.index == static_cast<std::uint32_t>(i) % 2) fabric.connections.connect(peer);
      EXPECT_EQ(await(fabric, Completion::Kind::rail_up), 0);
      fabric.transport.post({peer, RailId(0), Duration::zero()}, {}, {}, false, 0);
      await(fabric, Completion::Kind::frame);
      fabric.connections.disconnect(peer);
      EXPECT_FALSE(fabric.connections.connected(peer));
    }
  });
  EXPECT_GT(end, 5 * 6'000'000);
}

TEST(Connections, CostNothingInsideOfANode) {
  Rig rig = two_ranks();
  rig.ranks_per_node = 2;
  const std::int64_t end = rig.run([&](const Fabric& fabric) {
    const RankId peer(1 - fabric.self.index);
    EXPECT_TRUE(fabric.connections.connected(peer));
    EXPECT_FALSE(fabric.connections.needs_connection(peer));
    fabric.connections.connect(peer);
    await(fabric, Completion::Kind::rail_up);
  });
  EXPECT_EQ(end, 0);
}

}  // namespace
}  // namespace weft
