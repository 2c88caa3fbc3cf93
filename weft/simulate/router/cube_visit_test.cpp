// SPDX-License-Identifier: Apache-2.0
// Visits that are made for cubes make the same decisions as PlainVisit of any network: every
// message arrives at the same picosecond, and every link has carried the same, for which packets
// have waited as long.
#include <cstdint>
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

struct Outcome {
  std::map<std::uint64_t, std::int64_t> arrived_ps;  // By cookie.
  std::vector<std::uint64_t> carried;                // Packets and bytes by link, then by node.
  std::vector<Duration> waited;                      // In the same order, if measured.
  bool operator==(const Outcome&) const = default;
};

class Notes final : public Host {
 public:
  explicit Notes(int workers) : lists_(static_cast<std::size_t>(workers)) {}
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int worker, const Delivery& d) override {
    lists_[static_cast<std::size_t>(worker)].push_back(d);
  }
  void add_to(Outcome& outcome) const {
    for (const auto& list : lists_)
      for (const Delivery& d : list) outcome.arrived_ps[d.cookie] = d.arrived.in_ps();
  }

 private:
  std::vector<std::vector<Delivery>> lists_;
};

struct How {
  bool special, waits;
  int workers;
  std::int64_t size_max;  // Of messages; all below are as likely.
  bool whole_rings = true;
};

Outcome simulate(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
                 const How& how) {
  Notes notes(how.workers);
  NetworkOptions options;
  options.workers = how.workers;
  options.measure_waits = how.waits;
  options.special_visits = how.special;
  options.whole_rings = how.whole_rings;
  const auto network = *Network::make(topology, machine, policy, notes, options);
  Rng rng(4);
  const Graph& graph = topology.graph;
  const std::uint32_t nodes = graph.node_count();
  for (std::uint64_t i = 0; i < 20 * std::uint64_t{nodes}; ++i) {
    const auto random =
        static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(how.size_max)));
    // Every other message is of whole packets, so that nodes see packets of one size, too.
    const std::int64_t size = i % 2 == 0 ? random / machine.mtu.count * machine.mtu.count : random;
    network->send(NodeId(static_cast<std::uint32_t>(i) % nodes),
                  NodeId(static_cast<std::uint32_t>(rng.below(nodes))), Bytes{size},
                  Time::ps(static_cast<std::int64_t>(rng.below(2000)) * 1000), i);
  }
  EXPECT_FALSE(*network->run(Time::never()));
  Outcome outcome;
  notes.add_to(outcome);
  const auto add = [&](const LinkCount& count) {
    outcome.carried.push_back(count.packets);
    outcome.carried.push_back(count.bytes);
    for (const Duration waited :
         {count.waited_in_queue, count.waited_for_turn, count.waited_for_room})
      outcome.waited.push_back(waited);
  };
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) add(network->link(LinkId(l)));
  for (std::uint32_t n = 0; n < nodes; ++n) {
    add(network->node_link(NodeId(n)).injected);
    add(network->node_link(NodeId(n)).ejected);
  }
  return outcome;
}

VisitFunction visit_of(const Topology& topology, const NetworkHardware& machine,
                       const Policy& policy, bool special) {
  SilentHost host;
  Parts all;
  for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r) all.order.push_back(r);
  all.first = {0, topology.graph.router_count()};
  const auto state = lay_out(Setup(topology, machine, policy, host, 1),
                             place_routers(topology.graph, all, nullptr));
  state->special_visits = special;
  return use_plain(*state);
}

std::vector<NetworkHardware> machines() {
  std::vector<NetworkHardware> list;
  for (const int packets : {1, 2, 16}) {
    for (const Release release : {Release::tail, Release::head}) {
      for (const Arbitration arbitration : {Arbitration::round_robin, Arbitration::through_first}) {
        NetworkHardware m = test_machine();
        m.vcs = 2;
        m.lookahead = true;
        m.commit = false;
        m.release = release;
        m.arbitration = arbitration;
        m.buffer = m.mtu * packets;
        m.order = packets == 2 ? SendOrder::round_robin : SendOrder::queue;
        list.push_back(m);
      }
    }
  }
  return list;
}

// Three dimensions and others, rings with a half-way point and without, and no rings at all: meshes
// have no CubeVisit, but PlainVisit asks dimension order directly.
TEST(CubeVisit, DecidesAsPlainVisit) {
  for (const char* spec :
       {"torus:4x4x4", "torus:3x3x3", "torus:8", "torus:5x4", "mesh:3x5", "mesh:3x3x3"}) {
    const Topology topology = *make_topology(spec);
    const auto policy = *make_policy("dor", topology, 2);
    int number = 0;
    for (const NetworkHardware& machine : machines()) {
      SCOPED_TRACE(std::string(spec) + ", machine " + std::to_string(number++));
      const bool special =
          visit_of(topology, machine, *policy, true) != visit_of(topology, machine, *policy, false);
      ASSERT_EQ(special, std::string(spec).starts_with("torus"));
      for (const std::int64_t size_max : {std::int64_t{40}, 6 * machine.mtu.count}) {
        for (const bool waits : {false, true}) {
          const Outcome plain = simulate(topology, machine, *policy, {false, waits, 1, size_max});
          EXPECT_EQ(plain.arrived_ps.size(), 20 * topology.graph.node_count());
          EXPECT_TRUE(simulate(topology, machine, *policy, {true, waits, 1, size_max}) == plain);
          EXPECT_TRUE(simulate(topology, machine, *policy, {true, waits, 2, size_max, false}) ==
                      plain);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::detail
