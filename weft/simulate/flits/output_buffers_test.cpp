// SPDX-License-Identifier: Apache-2.0
// Machines with buffers at outputs and a switch of another rate than the links: beside packets on
// idle networks.
#include "weft/simulate/flits/output_buffers.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/topo/graph_file.hpp>
#include <weft/simulate/flits/test_rig.hpp>

namespace weft {
namespace {

using flits::Model;
using flits::Rig;

struct Case {
  std::string spec, routing;
  bool one_path = true;  // Of all packets between two nodes.
};

// Four leaves under two spines; two nodes at each leaf.
constexpr const char* two_spines =
    "weft-graph 1\n"
    "router a\nrouter b\nrouter c\nrouter d\nrouter s\nrouter t\n"
    "node a0 a\nnode b0 b\nnode c0 c\nnode d0 d\nnode a1 a\nnode b1 b\nnode c1 c\nnode d1 d\n"
    "link a s\nlink b s\nlink c s\nlink d s\nlink a t\nlink b t\nlink c t\nlink d t\n";

Topology make_network(const std::string& spec) {
  return spec == "graph" ? *read_graph_text(two_spines, "two_spines") : *make_topology(spec);
}

NetworkHardware long_stages() {
  NetworkHardware m;
  m.route = Duration::ns(3);
  m.vc_alloc = Duration::ns(5);
  m.switch_alloc = Duration::ns(7);
  m.switch_delay = Duration::ns(11);
  m.buffer = Bytes{8192};
  m.link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(100), .credit_delay = Duration::ns(90)};
  m.node_link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(17), .credit_delay = Duration::ns(13)};
  m.inject_delay = Duration::ns(19);
  m.eject_delay = Duration::ns(23);
  return m;
}

struct Machine {
  NetworkHardware hardware;
  FlitModel model;

  std::string text() const {
    return "output_buffer " + std::to_string(hardware.output_buffer.count) + ", switch_rate " +
           std::to_string(hardware.switch_rate.in_bit_per_s()) + ", vcs " +
           std::to_string(hardware.vcs) + (hardware.lookahead ? ", lookahead" : "") +
           (hardware.release == Release::head ? ", head" : ", tail") +
           (model.flow_control == FlowControl::wormhole ? ", wormhole" : "") +
           (model.speculation ? ", speculation" : "") + (model.hold_switch ? ", hold" : "");
  }
};

// Every buffer at every rate of the switch, with both flow controls, releases and pipelines; what
// does not depend on those takes turns.
std::vector<Machine> all_machines(bool wormhole) {
  std::vector<Machine> all;
  for (const std::int64_t buffer : {0, 256, 8192}) {
    for (const std::int64_t gbit : {0, 64, 96, 128, 256, 40, 32, 21}) {
      for (int i = 0; i < 6; ++i) {
        Machine machine{long_stages(), {}};
        NetworkHardware& m = machine.hardware;
        m.output_buffer = Bytes{buffer};
        if (gbit > 0) m.switch_rate = Rate::gbit_per_s(gbit);
        m.lookahead = i % 2 == 0;
        m.release = i < 2 ? Release::tail : Release::head;
        if (i >= 4 && wormhole) machine.model.flow_control = FlowControl::wormhole;
        const std::size_t turn = all.size();
        machine.model.speculation = turn % 5 == 1;
        machine.model.hold_switch = turn / 2 % 2 == 1;
        m.vcs = 1 << (turn % 3);
        all.push_back(machine);
      }
    }
  }
  return all;
}

class OutputBuffers : public testing::TestWithParam<Case> {};

// Packets of a message do not hold each other up; else the parts of cycles between them add up.
bool keeps_rate(const NetworkHardware& m) {
  return m.output_buffer != Bytes{256} &&
         (m.lookahead || m.switch_rate == Rate() || m.switch_rate >= m.link.rate);
}

// Messages that are alone: to far and near nodes, of no bytes, part of a flit and a whole packet,
// or of several packets.
void send_alone(Rig& rig, const Machine& machine, bool one_path) {
  std::vector<std::int64_t> sizes = {0, 1, 256};
  if (keeps_rate(machine.hardware) && one_path && !machine.model.speculation)
    sizes.insert(sizes.end(), {1000, 4000});
  std::uint64_t cookie = 0;
  for (const std::uint32_t to : {1u, 5u, 7u}) {
    for (const std::int64_t bytes : sizes) {
      rig.plan(0, to, bytes, cookie, static_cast<std::int64_t>(cookie) * 20'000);
      ++cookie;
    }
  }
  rig.run();
}

TEST_P(OutputBuffers, AMessageAloneTakesWhatPacketsTake) {
  const Topology topology = make_network(GetParam().spec);
  const int vcs = vcs_needed(GetParam().routing, topology);
  const auto any = make_policy(GetParam().routing, topology, std::max(vcs, 4));
  for (const Machine& machine : all_machines(!(*any)->facts().returns)) {
    SCOPED_TRACE(machine.text());
    Rig flits(topology, GetParam().routing, machine.hardware, machine.model, Model::flits);
    NetworkHardware hardware = machine.hardware;
    // A head alone gets its VC and the switch at once.
    if (machine.model.speculation) hardware.vc_alloc = Duration::zero();
    Rig packets(topology, GetParam().routing, hardware, {}, Model::packets);
    for (Rig* const rig : {&flits, &packets}) send_alone(*rig, machine, GetParam().one_path);
    ASSERT_EQ(flits.notes.list.size(), packets.notes.list.size());
    for (std::size_t i = 0; i < flits.notes.list.size(); ++i) {
      const Delivery &f = flits.notes.list[i], &p = packets.notes.list[i];
      // A last packet that is smaller than a flit arrives as a flit.
      EXPECT_NEAR(f.arrived.since_start().in_ns(), p.arrived.since_start().in_ns(), 1)
          << "message " << f.cookie << " of " << f.size.count << " bytes to " << f.to.index;
      EXPECT_EQ(f.cookie, p.cookie);
      EXPECT_EQ(f.hops, p.hops);
      EXPECT_EQ(f.entered, p.entered);
    }
    for (std::uint32_t l = 0; l < topology.graph.link_count(); ++l) {
      EXPECT_EQ(flits.network->link(LinkId(l)).packets, packets.network->link(LinkId(l)).packets);
      EXPECT_EQ(flits.network->link(LinkId(l)).bytes, packets.network->link(LinkId(l)).bytes);
    }
    for (std::uint32_t n = 0; n < topology.graph.node_count(); ++n)
      EXPECT_EQ(flits.network->node_link(NodeId(n)).ejected.bytes,
                packets.network->node_link(NodeId(n)).ejected.bytes);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, OutputBuffers,
    testing::Values(Case{"torus:5x4", "dor"}, Case{"torus:4x4", "min-adaptive", false},
                    Case{"torus:5x3", "ugal-l", false}, Case{"mesh:4x3", "dor"},
                    Case{"mesh:5x4", "crossline", false}, Case{"torus:4x4", "foresight", false},
                    Case{"mesh:5x4", "rca-1d", false}, Case{"fattree:k=4,levels=2", "dest-down"},
                    Case{"fattree:k=4,levels=2", "adaptive-up", false},
                    Case{"dragonfly:a=4,h=2,p=2", "minimal"},
                    Case{"dragonfly:a=4,h=2,p=2", "ugal-l", false},
                    Case{"hyperx:3x3,p=2", "minimal"}, Case{"hyperx:3x3,p=2", "ugal-l", false},
                    Case{"graph", "shortest"}, Case{"graph", "up-down"}));

}  // namespace
}  // namespace weft
