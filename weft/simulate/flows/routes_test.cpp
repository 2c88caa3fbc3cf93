// SPDX-License-Identifier: Apache-2.0
// Ways on cubes, found by coordinates, beside those that the policy gives hop by hop.
#include "weft/simulate/flows/routes.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {
namespace {

class NoQueues final : public LinkQueues {
 public:
  Bytes queued(LinkId) const override { return {}; }
  Bytes most() const override { return Bytes{1}; }
};

// The same policy, which does not say that it is dimension order.
class Disguised final : public Policy {
 public:
  explicit Disguised(const Policy& policy) : policy_(policy) {}
  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    policy_.next(here, flight, view, out);
  }
  PolicyFacts facts() const override { return policy_.facts(); }

 private:
  const Policy& policy_;
};

TEST(Routes, WaysOnCubesAreThoseOfThePolicy) {
  const NoQueues queues;
  for (const std::string spec : {"torus:4x6", "mesh:4x3", "torus:5x2x4", "torus:2x2,p=4",
                                 "mesh:7,p=3", "torus:8", "mesh:2x2x2x2"}) {
    for (const std::string routing : {"dor", "dor:up"}) {
      for (const int vcs : {2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << spec << " " << routing << " " << vcs);
        const Topology topology = *make_topology(spec);
        const auto policy = *make_policy(routing, topology, vcs);
        ASSERT_NE(policy->dimension_order(), nullptr);
        const Disguised disguised(*policy);
        Routes by_place(topology, *policy, queues), by_hop(topology, disguised, queues);
        Rng dice(1);
        Routes::Path found, expected;
        for (int i = 0; i < 500; ++i) {
          const std::uint32_t nodes = topology.graph.node_count();
          const NodeId from(static_cast<std::uint32_t>(dice.below(nodes)));
          const NodeId to(static_cast<std::uint32_t>(dice.below(nodes)));
          const std::uint64_t bits = dice.next();
          ASSERT_TRUE(by_place.find(from, to, bits, found));
          ASSERT_TRUE(by_hop.find(from, to, bits, expected));
          ASSERT_EQ(found.steps, expected.steps);
          ASSERT_EQ(found.vcs, expected.vcs);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft
