// SPDX-License-Identifier: Apache-2.0
// For tests: a network, its policy and a host that notes what arrives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/simulate/flits/flit_network.hpp>

namespace weft::flits {

// Sends what was planned, notes what arrives.
class Notes final : public Host {
 public:
  Time alarm(int, NodeId node, Time now) override {
    std::multimap<Time, Outgoing>& own = plans[node.index];
    for (; !own.empty() && own.begin()->first <= now; own.erase(own.begin()))
      network->send(own.begin()->second, now);
    return own.empty() ? Time::never() : own.begin()->first;
  }
  void delivered(int, const Delivery& d) override { list.push_back(d); }
  void departed(int, const Departure& d) override { left.push_back(d); }
  double arrival_ns(std::uint64_t cookie) const {
    for (const Delivery& d : list)
      if (d.cookie == cookie) return d.arrived.since_start().in_ns();
    return -1;
  }
  std::vector<Delivery> list;
  std::vector<Departure> left;
  std::map<std::uint32_t, std::multimap<Time, Outgoing>> plans;  // By node.
  Network* network = nullptr;
};

// The textbook's router: every stage and cable one cycle of 1 ns.
inline NetworkHardware textbook(int vcs, int packet_flits, int buffer_flits = 0) {
  NetworkHardware m;
  m.vcs = vcs;
  m.mtu = m.flit * packet_flits;
  m.buffer = m.flit * (buffer_flits > 0 ? buffer_flits : packet_flits);
  m.arbitration = Arbitration::round_robin;
  return m;
}

enum class Model { flits, packets };

struct Rig {
  Rig(const std::string& spec, const std::string& routing, const NetworkHardware& machine,
      const FlitModel& model = {}, Model which = Model::flits)
      : Rig(*make_topology(spec), routing, machine, model, which) {}
  Rig(Topology network_of, const std::string& routing, NetworkHardware machine,
      const FlitModel& model, Model which)
      : topology(std::move(network_of)) {
    machine.vcs = std::max(machine.vcs, vcs_needed(routing, topology));
    policy = *make_policy(routing, topology, machine.vcs);
    open(machine, model, which);
  }
  Rig(const std::string& spec, std::unique_ptr<Policy> own, const NetworkHardware& machine,
      const FlitModel& model)
      : topology(*make_topology(spec)), policy(std::move(own)) {
    open(machine, model, Model::flits);
  }
  void open(const NetworkHardware& machine, const FlitModel& model, Model which) {
    auto made = which == Model::flits
                    ? make_flit_network(topology, machine, *policy, notes, {}, model)
                    : Network::make(topology, machine, *policy, notes, {});
    EXPECT_TRUE(made) << made.error().text();
    network = std::move(*made);
    notes.network = network.get();
  }
  void send(std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::uint64_t cookie = 0,
            std::int64_t at_ns = 0) {
    network->send(NodeId(from), NodeId(to), Bytes{bytes}, Time::zero() + Duration::ns(at_ns),
                  cookie);
  }
  // As send(), but the node does it then, as the packet model wants it.
  void plan(std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::uint64_t cookie,
            std::int64_t at_ns) {
    const Time at = Time::zero() + Duration::ns(at_ns);
    notes.plans[from].emplace(
        at, Outgoing{NodeId(from), NodeId(to), Bytes{bytes}, cookie, Duration::zero()});
    network->set_alarm(NodeId(from), at);
  }
  void run() {
    const auto ran = network->run(Time::never());
    ASSERT_TRUE(ran) << ran.error().text();
    EXPECT_FALSE(*ran);
  }

  Topology topology;
  std::unique_ptr<Policy> policy;
  Notes notes;
  std::unique_ptr<Network> network;
};

// More than the network carries, in messages of all sizes and packets of up to 32 bytes with 3
// bytes of header: all arrive, what links carry is what was sent, and buffers are empty in the end.
// Returns when they arrived.
inline std::vector<std::int64_t> overload(Rig& rig, std::uint64_t per_node = 40) {
  Rng rng(test_seed());
  const std::uint32_t nodes = rig.topology.graph.node_count();
  std::int64_t bytes = 0;
  for (std::uint64_t i = 0; i < per_node * nodes; ++i) {
    const auto size = static_cast<std::int64_t>(rng.below(200));
    rig.send(static_cast<std::uint32_t>(rng.below(nodes)),
             static_cast<std::uint32_t>(rng.below(nodes)), size, i);
    bytes += size + 3 * std::max<std::int64_t>((size + 31) / 32, 1);
  }
  rig.run();
  EXPECT_EQ(rig.notes.list.size(), per_node * nodes);
  EXPECT_EQ(rig.network->counts().packets_sent, rig.network->counts().packets_delivered);
  std::uint64_t in = 0, out = 0, packets = 0;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    in += rig.network->node_link(NodeId(n)).injected.bytes;
    out += rig.network->node_link(NodeId(n)).ejected.bytes;
  }
  for (std::uint32_t l = 0; l < rig.topology.graph.link_count(); ++l)
    packets += rig.network->link(LinkId(l)).packets;
  EXPECT_EQ(in, static_cast<std::uint64_t>(bytes));
  EXPECT_EQ(out, static_cast<std::uint64_t>(bytes));
  EXPECT_EQ(packets, rig.network->counts().hops);
  EXPECT_EQ(rig.network->buffer(RouterId(0), 0, 0, Time::never()), BufferLevel{});
  EXPECT_TRUE(rig.network->find_deadlock().empty());
  std::vector<std::int64_t> arrived;
  for (const Delivery& d : rig.notes.list) arrived.push_back(d.arrived.in_ps());
  return arrived;
}

}  // namespace weft::flits
