// SPDX-License-Identifier: Apache-2.0
// The plain and the general router make the same decisions: every message arrives at the same
// picosecond, and packets have waited as long for every link.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/simulate/router/layout.hpp>
#include <weft/simulate/router/plain_router.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

// The same routes, but it says that it may have two ways for a packet, which only the general
// router supports.
class TwoWays final : public Policy {
 public:
  explicit TwoWays(const Policy& routes) : routes_(routes) {}
  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    routes_.next(here, flight, view, out);
  }
  PolicyFacts facts() const override {
    PolicyFacts facts = routes_.facts();
    facts.choices_max = 2;
    return facts;
  }

 private:
  const Policy& routes_;
};

using Arrivals = std::map<std::uint64_t, std::int64_t>;  // By cookie.

class Notes final : public Host {
 public:
  explicit Notes(int workers) : lists_(static_cast<std::size_t>(workers)) {}
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int worker, const Delivery& d) override {
    lists_[static_cast<std::size_t>(worker)].push_back(d);
  }
  Arrivals arrivals() const {
    Arrivals all;
    for (const auto& list : lists_)
      for (const Delivery& d : list) all[d.cookie] = d.arrived.in_ps();
    return all;
  }

 private:
  std::vector<std::vector<Delivery>> lists_;
};

struct Outcome {
  Arrivals arrivals;
  std::vector<std::int64_t>
      waited_ps;  // In queue, for a turn and for room, by link, then by node's link.
  bool operator==(const Outcome&) const = default;
};

std::vector<std::int64_t> waits_of(const Network& network, const Graph& graph) {
  std::vector<std::int64_t> list;
  const auto add = [&](const LinkCount& count) {
    list.push_back(count.waited_in_queue.in_ps());
    list.push_back(count.waited_for_turn.in_ps());
    list.push_back(count.waited_for_room.in_ps());
  };
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) add(network.link(LinkId(l)));
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    add(network.node_link(NodeId(n)).injected);
    add(network.node_link(NodeId(n)).ejected);
  }
  return list;
}

// Every node sends messages of one to six packets to random nodes.
Outcome simulate(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
                 int workers, bool whole_rings = true) {
  Notes notes(workers);
  NetworkOptions options;
  options.workers = workers;
  options.whole_rings = whole_rings;
  options.measure_waits = true;
  const auto network = *Network::make(topology, machine, policy, notes, options);
  Rng rng(4);
  const std::uint32_t nodes = topology.graph.node_count();
  for (std::uint64_t i = 0; i < 20 * std::uint64_t{nodes}; ++i) {
    const Bytes size{static_cast<std::int64_t>(rng.below(1500))};
    network->send(NodeId(static_cast<std::uint32_t>(i) % nodes),
                  NodeId(static_cast<std::uint32_t>(rng.below(nodes))), size,
                  Time::ps(static_cast<std::int64_t>(rng.below(2000)) * 1000), i);
  }
  EXPECT_FALSE(*network->run(Time::never()));
  return {notes.arrivals(), waits_of(*network, topology.graph)};
}

bool is_plain(const Topology& topology, const NetworkHardware& machine, const Policy& policy) {
  SilentHost host;
  Parts all;
  for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r) all.order.push_back(r);
  all.first = {0, topology.graph.router_count()};
  return fits_plain(*lay_out(Setup(topology, machine, policy, host, 1),
                             place_routers(topology.graph, all, nullptr)));
}

std::vector<NetworkHardware> machines() {
  std::vector<NetworkHardware> list;
  for (const bool lookahead : {false, true}) {
    for (const Release release : {Release::tail, Release::head}) {
      for (const Arbitration arbitration : {Arbitration::round_robin, Arbitration::through_first}) {
        NetworkHardware m = test_machine();
        m.lookahead = lookahead;
        m.release = release;
        m.arbitration = arbitration;
        m.commit = false;
        m.buffer = m.mtu * (lookahead ? 2 : 5);
        list.push_back(m);
        m.order = SendOrder::round_robin;
        list.push_back(m);
        m.node_link.rate = Rate::gbyte_per_s(3);  // Rates differ: no whole ps per byte for all.
        list.push_back(m);
        m.output_buffer = m.mtu * (lookahead ? 3 : 1);
        m.switch_rate = Rate::gbyte_per_s(16);
        list.push_back(m);
      }
    }
  }
  return list;
}

void expect_alike(const Topology& topology, const NetworkHardware& machine, const Policy& policy) {
  const TwoWays two_ways(policy);
  ASSERT_TRUE(is_plain(topology, machine, policy));
  ASSERT_FALSE(is_plain(topology, machine, two_ways));
  const Outcome plain = simulate(topology, machine, policy, 1);
  EXPECT_EQ(plain.arrivals.size(), 20 * topology.graph.node_count());
  EXPECT_GT(*std::max_element(plain.waited_ps.begin(), plain.waited_ps.end()), 0);
  EXPECT_TRUE(simulate(topology, machine, two_ways, 1) == plain);
  EXPECT_TRUE(simulate(topology, machine, two_ways, 2, false) == plain);
  EXPECT_TRUE(simulate(topology, machine, policy, 2, false) == plain);
}

// One way, and one that depends on queues; few actors in a router, and more than 64; buffers whole
// and in blocks.
TEST(BothRouters, DecideAlike) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"torus:4x4,p=2", "dor"},
      {"mesh:3x5", "dor"},
      {"fattree:k=3,levels=2", "dest-down"},
      {"dragonfly:a=3,h=1,p=2", "ugal-l"},
      {"mesh:2,p=22", "dor"},
      {"mesh:2,p=22", "ugal-l"}};
  for (const auto& [spec, routing] : cases) {
    const Topology topology = *make_topology(spec);
    const int vcs = std::max(2, vcs_needed(routing, topology));
    const auto policy = *make_policy(routing, topology, vcs);
    int machine_number = 0;
    for (NetworkHardware machine : machines()) {
      SCOPED_TRACE(spec + ", machine " + std::to_string(machine_number++));
      machine.vcs = vcs;
      expect_alike(topology, machine, *policy);
    }
  }
}

// Routers of 65 to 128 buffers: masks of two words.
TEST(BothRouters, DecideAlikeWithManyBuffers) {
  for (const std::string routing : {"dor", "ugal-l"}) {
    const Topology topology = *make_topology("mesh:2,p=40");
    const int vcs = std::max(2, vcs_needed(routing, topology));
    const auto policy = *make_policy(routing, topology, vcs);
    for (NetworkHardware machine : machines()) {
      if (machine.output_buffer.count > 0) continue;
      SCOPED_TRACE(routing + (machine.lookahead ? " ahead" : " serial"));
      machine.vcs = vcs;
      expect_alike(topology, machine, *policy);
    }
  }
}

// Heads take a VC before an output: rings in blocks are left to the general router.
TEST(BothRouters, DecideAlikeWhereVcsComeFirst) {
  struct Case {
    std::string spec, routing;
    int vcs;
  };
  const std::vector<Case> cases = {{"torus:4x4", "min-adaptive", 3},
                                   {"mesh:2,p=33", "min-adaptive", 3},
                                   {"fattree:k=3,levels=2", "adaptive-up", 2},
                                   {"fattree:k=2,levels=3", "adaptive-up", 1},
                                   {"xgft:m=4x3,w=1x20", "adaptive-up", 1},
                                   {"xgft:m=3x3,w=1x40", "adaptive-up", 2},
                                   {"torus:4x4", "crossline", 6},
                                   {"torus:5x4", "rca-1d", 4}};
  for (const auto& [spec, routing, vcs] : cases) {
    const Topology topology = *make_topology(spec);
    const auto policy = *make_policy(routing, topology, vcs);
    int machine_number = 0;
    for (NetworkHardware machine : machines()) {
      if (machine.output_buffer.count > 0) continue;
      SCOPED_TRACE(spec + " " + routing + ", machine " + std::to_string(machine_number++));
      machine.vcs = vcs;
      machine.commit = true;
      ASSERT_TRUE(is_plain(topology, machine, *policy));
      const Outcome plain = simulate(topology, machine, *policy, 1);
      EXPECT_EQ(plain.arrivals.size(), 20 * topology.graph.node_count());
      EXPECT_TRUE(simulate(topology, machine, *policy, 1, false) == plain);
      EXPECT_TRUE(simulate(topology, machine, *policy, 2) == plain);
    }
  }
}

}  // namespace
}  // namespace weft::detail
