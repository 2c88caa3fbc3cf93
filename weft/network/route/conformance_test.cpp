// SPDX-License-Identifier: Apache-2.0
// Every policy of the table on every kind of network, judged by conformance.hpp.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/conformance.hpp>
#include <weft/network/route/path.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

using Load = FakeView::Load;

std::set<int> vc_counts(int needed) {
  std::set<int> counts;
  for (const int vcs : {needed, needed + 1, 2 * needed, 2 * needed + 3})
    counts.insert(std::min(vcs, max_vcs));
  return counts;
}

// All pairs of nodes; where there are too many for the time a test has, every stride-th.
void follow_pairs(Judge& judge, const Topology& topology, int packets, std::uint64_t pairs_max) {
  const std::uint64_t nodes = topology.graph.node_count();
  // Odd and not a divisor of anything in use, so that no source or destination is left out.
  const std::uint64_t stride = nodes * nodes <= pairs_max ? 1 : nodes * nodes / pairs_max * 2 + 1;
  Rng rng(nodes);
  for (std::uint64_t i = 0; i < nodes * nodes; i += stride)
    for (int k = 0; k < packets; ++k) {
      const std::uint64_t bits = k == 0 ? 0 : k == 1 ? ~std::uint64_t{0} : rng.next();
      judge.follow(NodeId(static_cast<std::uint32_t>(i / nodes)),
                   NodeId(static_cast<std::uint32_t>(i % nodes)), bits);
    }
}

void judge(const Topology& topology, const Policy& policy, int vcs, FakeView view) {
  Judge j(topology, policy, vcs, view);
  const PolicyFacts facts = policy.facts();
  const std::uint64_t nodes = topology.graph.node_count();
  const bool wide = facts.choices_max > 2;
  const std::uint64_t pairs_max = wide ? 2'000 : 50'000;
  const std::uint64_t budget = wide ? 6'000 : 30'000;  // Packets in all.
  const auto packets = facts.in_order ? 3 : std::max<std::uint64_t>(4, budget / (nodes * nodes));
  follow_pairs(j, topology, static_cast<int>(packets), pairs_max);
  j.check_dependencies();
  EXPECT_TRUE(j.errors().empty()) << j.report();
}

using Case = std::tuple<PolicyEntry, std::string_view>;
class EveryPolicy : public testing::TestWithParam<Case> {
 protected:
  const PolicyEntry& entry() const { return std::get<0>(GetParam()); }
  Topology network() const { return test_network(std::get<1>(GetParam())); }
};

TEST_P(EveryPolicy, KeepsItsPromises) {
  const Topology topology = network();
  const int needed = entry().vcs_needed(topology);
  for (const int vcs : vc_counts(needed)) {
    const auto policy = make_policy(entry().name, topology, vcs);
    ASSERT_TRUE(policy) << policy.error().text();
    judge(topology, **policy, vcs, FakeView(topology, Load::random, 7));
    if (!(*policy)->facts().looks) continue;
    judge(topology, **policy, vcs, FakeView(topology, Load::empty));
    judge(topology, **policy, vcs, FakeView(topology, Load::full));
  }
}

// The table's own graph is whole: the policy learns from the view that a cable is down. It may find
// another way or none, but must not send over it, loop or stop.
TEST_P(EveryPolicy, AvoidsDownPorts) {
  const Topology topology = network();
  const int vcs = entry().vcs_needed(topology);
  const auto policy = make_policy(entry().name, topology, vcs);
  ASSERT_TRUE(policy) << policy.error().text();
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    FakeView view(topology, Load::random, seed);
    Rng rng(seed);
    for (int i = 0; i < 4; ++i)
      view.cut(LinkId(static_cast<std::uint32_t>(rng.below(topology.graph.link_count()))));
    Judge j(topology, **policy, vcs, view);
    follow_pairs(j, topology, 2, 3'000);
    EXPECT_TRUE(j.errors().empty()) << j.report();
  }
}

// In a lattice, links of port 2d lead up in dimension d and those of port 2d + 1 down.
void expect_dimension_order(const Topology& topology, const std::string& routing, TieRule ties) {
  const auto policy = make_policy(routing, topology, vcs_needed(routing, topology));
  ASSERT_TRUE(policy) << policy.error().text();
  const Lattice& lattice = *topology.shape->lattice();
  const Graph& graph = topology.graph;
  std::vector<LinkId> links;
  for (std::uint32_t a = 0; a < graph.node_count(); ++a)
    for (std::uint32_t b = 0; b < graph.node_count(); ++b) {
      ASSERT_TRUE(follow_path(**policy, graph, NodeId(a), NodeId(b), links));
      const RouterId from = graph.router_of(NodeId(a));
      const RouterId to = graph.router_of(NodeId(b));
      ASSERT_EQ(static_cast<int>(links.size()), distance(topology, from, to));
      int axis = 0;
      RouterId here = from;
      for (const LinkId link : links) {
        const int port = graph.port(link).peer_port ^ 1;  // The other end of a straight line.
        ASSERT_GE(port / 2, axis) << routing << " goes back to a dimension";
        axis = port / 2;
        const auto d = static_cast<std::size_t>(axis);
        const int ahead = coordinates(topology, to)[d] - coordinates(topology, here)[d];
        const bool tie = lattice.wrap[d] && 2 * std::abs(ahead) == lattice.radix[d];
        if (tie && ties == TieRule::up) {
          ASSERT_EQ(port % 2, 0) << routing;
        }
        here = graph.port(link).peer;
      }
    }
}

TEST_P(EveryPolicy, GoesInDimensionOrderIfItSaysSo) {
  const Topology topology = network();
  std::vector<std::string> routings = {std::string(entry().name)};
  for (const PolicyWords& group : entry().groups)
    for (std::size_t at = 0; at < group.words.size();) {
      const std::size_t end = std::min(group.words.find('|', at), group.words.size());
      routings.push_back(routings.front() + ":" + std::string(group.words.substr(at, end - at)));
      at = end + 1;
    }
  for (const std::string& routing : routings) {
    const auto ties = dimension_order(routing, topology);
    EXPECT_EQ(ties.has_value(),
              entry().dimension_order != nullptr && vcs_needed(routing, topology) > 0);
    if (ties) expect_dimension_order(topology, routing, *ties);
  }
}

TEST(DefaultRouting, FitsEveryNetwork) {
  for (const std::string_view spec : test_network_specs()) {
    const Topology topology = test_network(spec);
    EXPECT_GT(vcs_needed(default_routing(topology), topology), 0) << spec;
    const std::string one_path = default_one_path_routing(topology);
    EXPECT_GT(vcs_needed(one_path, topology), 0) << spec;
    const auto ties = dimension_order(one_path, topology);
    EXPECT_EQ(ties.value_or(TieRule::up), TieRule::up);
  }
  EXPECT_EQ(default_routing(test_network("torus:4x4")), "dor");
  EXPECT_EQ(default_one_path_routing(test_network("torus:4x4")), "dor:up");
  const Topology irregular = test_network("irregular");
  EXPECT_EQ(default_routing(irregular), "shortest");
  EXPECT_EQ(default_routing(irregular, 1), "up-down");
  EXPECT_EQ(default_routing(test_network("slimfly:q=4,p=1"), 1), "up-down");
  EXPECT_EQ(default_routing(test_network("torus:4x4"), 1), "dor");  // Is told that it needs 2.
  const Topology broken = break_cables(test_network("torus:4x4"), {LinkId(0)});
  EXPECT_EQ(default_routing(broken), "dor-around");
  EXPECT_EQ(default_one_path_routing(broken), "dor-around:up");
  EXPECT_EQ(default_routing(broken, 2), "shortest");
  EXPECT_EQ(default_routing(broken, 1), "up-down");
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name =
      std::string(std::get<0>(info.param).name) + "_on_" + std::string(std::get<1>(info.param));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}
std::vector<Case> fitting() {
  std::vector<Case> cases;
  for (const std::string_view spec : test_network_specs()) {
    const Topology topology = test_network(spec);
    for (const PolicyEntry& entry : builtin_policies())
      if (entry.vcs_needed(topology) > 0) cases.emplace_back(entry, spec);
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Builtin, EveryPolicy, testing::ValuesIn(fitting()), test_name);

// A policy that fits none of the networks above would not be judged at all.
TEST(Builtin, EachPolicyFitsATestNetwork) {
  std::set<std::string_view> judged;
  for (const Case& one : fitting()) judged.insert(std::get<0>(one).name);
  for (const PolicyEntry& entry : builtin_policies())
    EXPECT_TRUE(judged.contains(entry.name)) << entry.name;
}

// The table is without words; those that change a route promise the same.
TEST(PolicyWithWords, KeepsItsPromises) {
  int networks = 0;
  for (const std::string_view spec : test_network_specs()) {
    const Topology topology = test_network(spec);
    const int needed = vcs_needed("dor:up", topology);
    if (needed == 0) continue;
    ++networks;
    for (const int vcs : vc_counts(needed)) {
      const auto policy = make_policy("dor:up", topology, vcs);
      ASSERT_TRUE(policy) << policy.error().text();
      judge(topology, **policy, vcs, FakeView(topology, Load::random, 7));
    }
  }
  EXPECT_GT(networks, 3);
}

// Policies that go round broken cables deliver whatever is still connected.
TEST(BrokenGraph, IsRoutedAround) {
  for (const std::string_view spec : test_network_specs()) {
    if (spec == "tofu:3x3x2") continue;  // Takes longer than all others together.
    const Topology whole = test_network(spec);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      std::vector<LinkId> links;
      links.reserve(3);
      Rng rng(seed);
      for (int i = 0; i < 3; ++i)
        links.push_back(LinkId(static_cast<std::uint32_t>(rng.below(whole.graph.link_count()))));
      const Topology topology = break_cables(whole, links);
      bool connected = true;
      for (std::uint32_t n = 1; n < topology.graph.node_count(); ++n)
        connected &= distance(topology, topology.graph.router_of(NodeId(0)),
                              topology.graph.router_of(NodeId(n))) >= 0;
      if (!connected) continue;
      for (const PolicyEntry& entry : builtin_policies()) {
        const bool reaches = entry.reaches_all != nullptr && entry.reaches_all(topology);
        if (!entry.any_graph && (!reaches || entry.vcs_needed(topology) == 0)) continue;
        const int vcs = entry.vcs_needed(topology);
        ASSERT_GT(vcs, 0) << entry.name << " on " << spec;
        const auto made = make_policy(entry.name, topology, vcs);
        ASSERT_TRUE(made) << made.error().text();
        judge(topology, **made, vcs, FakeView(topology, Load::empty));
      }
    }
  }
}

}  // namespace
}  // namespace weft
