// SPDX-License-Identifier: Apache-2.0
// Machines with buffers at outputs and a switch of another rate than the links: beside packets on
// idle networks, beside sums worked out by hand where packets meet, and how much they carry.
#include "weft/simulate/flits/output_buffers.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/simulate/flits/test_rig.hpp>

namespace weft {
namespace {

using flits::Model;
using flits::overload;
using flits::Rig;
using flits::textbook;

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
                    Case{"graph", "shortest"}, Case{"graph", "up-down"},
                    Case{"fattree:radix=70,levels=1", "dest-down"},
                    Case{"hyperx:2,p=67", "minimal"}));

// Links, cards and switches of all rates, of which a flit takes whole cycles on the slower ones;
// stages of any length, none among them.
NetworkHardware draw_rates(Rng& rng) {
  const auto any = [&](std::int64_t most) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
  };
  const auto rate = [&] { return Rate::gbyte_per_s(8 >> any(3)); };
  NetworkHardware m;
  m.vcs = 1 << any(3);
  m.buffer = Bytes{8192};
  m.output_buffer = Bytes{256} * any(4);
  if (any(4) > 0) m.switch_rate = Rate::gbyte_per_s(1 << any(6));
  m.route = Duration::ns(any(4));
  m.vc_alloc = Duration::ns(any(3));
  m.switch_alloc = Duration::ns(any(3));
  m.switch_delay = Duration::ns(any(3));
  m.link = {
      .rate = rate(), .delay = Duration::ns(1 + any(3)), .credit_delay = Duration::ns(1 + any(3))};
  m.node_link = {.rate = Rate::gbyte_per_s(8),
                 .delay = Duration::ns(1 + any(3)),
                 .credit_delay = Duration::ns(1 + any(3))};
  (any(2) == 0 ? m.inject_rate : m.eject_rate) = rate();  // The other has cycles of 1 ns.
  m.lookahead = any(2) == 0;
  m.release = any(2) == 0 ? Release::head : Release::tail;
  return m;
}

TEST(Flits, AlonePacketsTakeWhatPacketsTakeAtAllRates) {
  SCOPED_TRACE(replay_text(test_seed()));
  Rng rng(test_seed());
  for (int round = 0; round < 400; ++round) {
    const Machine machine{draw_rates(rng), {}};
    SCOPED_TRACE("round " + std::to_string(round) + ", " + machine.text());
    std::vector<std::vector<double>> times;
    for (const Model model : {Model::flits, Model::packets}) {
      Rig rig("fattree:k=4,levels=2", "dest-down", machine.hardware, {}, model);
      send_alone(rig, machine, false);
      times.emplace_back();
      for (const Delivery& d : rig.notes.list)
        times.back().push_back(d.arrived.since_start().in_ns());
    }
    ASSERT_EQ(times[0].size(), times[1].size());
    for (std::size_t i = 0; i < times[0].size(); ++i)
      EXPECT_NEAR(times[0][i], times[1][i], 1) << "message " << i;
    if (HasFailure()) return;
  }
}

// What is set for switches beside the flit model.
struct Setting {
  FlitModel model;
  std::int64_t output_buffer, switch_gbit;
  Release release = Release::tail;
  Arbitration arbitration = Arbitration::through_first;
  bool lookahead = false;
};

const std::vector<Setting> settings = {
    {{}, 40, 0},
    {{}, 80, 128, Release::head, Arbitration::round_robin, true},
    {{}, 0, 128},
    {{.iterations = 2, .hold_switch = true, .requests = VcRequests::all},
     40,
     96,
     Release::head,
     Arbitration::age},
    {{.allocator = Allocation::separable_input, .arbiter = Arbiter::matrix}, 80, 40},
    {{.speculation = true}, 40, 256, Release::head, Arbitration::round_robin, true},
    {{.speculation = true, .hold_switch = true}, 0, 21},
    {{.flow_control = FlowControl::wormhole}, 48, 128, Release::head},
    {{.speculation = true, .hold_switch = true, .flow_control = FlowControl::wormhole},
     40,
     0,
     Release::head,
     Arbitration::age,
     true}};

class Crowds : public testing::TestWithParam<Case> {};

// Messages of one node to another arrive as they were sent.
void expect_order(const Rig& rig) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last;
  for (const Delivery& d : rig.notes.list) {
    const auto [before, first] = last.emplace(std::pair(d.from.index, d.to.index), d.cookie);
    EXPECT_TRUE(first || before->second < d.cookie) << d.from.index << " to " << d.to.index;
    before->second = d.cookie;
  }
}

NetworkHardware machine_of(const Setting& setting, int least_vcs) {
  NetworkHardware machine = textbook(1, 4);
  machine.vcs = std::max(1, least_vcs) + (setting.lookahead ? 2 : 0);
  machine.header = Bytes{3};
  machine.buffer = Bytes{80};
  machine.order = SendOrder::round_robin;
  machine.output_buffer = Bytes{setting.output_buffer};
  if (setting.switch_gbit > 0) machine.switch_rate = Rate::gbit_per_s(setting.switch_gbit);
  machine.release = setting.release;
  machine.arbitration = setting.arbitration;
  machine.lookahead = setting.lookahead;
  return machine;
}

TEST_P(Crowds, ComeToTheirPlaces) {
  const Topology topology = make_network(GetParam().spec);
  const int least = vcs_needed(GetParam().routing, topology);
  for (const Setting& setting : settings) {
    const NetworkHardware machine = machine_of(setting, least);
    Rig first(topology, GetParam().routing, machine, setting.model, Model::flits);
    const std::vector<std::int64_t> times = overload(first);
    if (first.policy->facts().in_order && setting.output_buffer > 0) expect_order(first);
    Rig again(topology, GetParam().routing, machine, setting.model, Model::flits);
    EXPECT_EQ(times, overload(again));
  }
}

// Routers of more than 64 ports and nodes, for which the words of ends are too short.
TEST(Flits, WideRoutersBringAllToTheirPlaces) {
  std::vector<Setting> all = settings;
  all.push_back({{}, 0, 0});
  all.push_back({{.speculation = true, .hold_switch = true}, 0, 0});
  for (const Case& wide : {Case{"fattree:radix=150,levels=1", "dest-down"},
                           Case{"hyperx:67,p=2", "minimal"}, Case{"mesh:3x2,p=64", "crossline"}}) {
    const Topology topology = make_network(wide.spec);
    for (const Setting& setting : all) {
      const NetworkHardware machine = machine_of(setting, vcs_needed(wide.routing, topology));
      Rig rig(topology, wide.routing, machine, setting.model, Model::flits);
      overload(rig, 5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, Crowds,
    testing::Values(Case{"mesh:4x4", "dor"}, Case{"mesh:4x4", "xy-yx-adaptive"},
                    Case{"torus:4x4", "dor"}, Case{"torus:4x4", "min-adaptive"},
                    Case{"torus:4x4", "valiant"}, Case{"torus:5x3", "ugal-l"},
                    Case{"mesh:4x4", "planar-adaptive"}, Case{"torus:5x4", "crossline"},
                    Case{"mesh:5x4", "rca-1d"}, Case{"fattree:k=4,levels=2", "dest-down"},
                    Case{"fattree:k=4,levels=2", "adaptive-up"},
                    Case{"dragonfly:a=4,h=2,p=2", "minimal"},
                    Case{"dragonfly:a=4,h=2,p=2", "ugal-l"}, Case{"hyperx:3x3,p=2", "minimal"},
                    Case{"hyperx:3x3,p=2", "ugal-l"}, Case{"graph", "shortest"},
                    Case{"graph", "up-down"}));

// Two VCs of a card, of a link and of a queue overtake one another; those of one node do not.
TEST(Flits, OutputBuffersKeepTheOrderOfPackets) {
  for (const std::int64_t switch_gbit : {0, 128}) {
    NetworkHardware machine = textbook(2, 4, 64);
    machine.output_buffer = Bytes{512};
    if (switch_gbit > 0) machine.switch_rate = Rate::gbit_per_s(switch_gbit);
    Rig rig("torus:5x5", "dor:up", machine);
    ASSERT_TRUE(rig.policy->facts().in_order);
    Rng rng(test_seed());
    for (std::uint32_t n = 0; n < 25; ++n)
      for (std::uint64_t i = 0; i < 200; ++i)
        rig.send(n, (n + (rng.below(4) == 0 ? 3 : 1)) % 25, 32, i);
    rig.run();
    EXPECT_EQ(rig.notes.list.size(), 5000u);
    expect_order(rig);
  }
}

// Nodes 0 and 1 send to node 2 at the same router, at the same time, with two VCs. Both heads cross
// at 3, since an output takes two flits in a cycle, and are at the output at 5; from there they
// take turns, one at 5 and one at 6. The link has 16 flits, the last at 20, which are there a cycle
// later and count when they have come.
TEST(Flits, VcsShareTheLinkBehindOutputBuffers) {
  NetworkHardware machine = textbook(2, 8);
  machine.output_buffer = machine.buffer;
  machine.switch_rate = Rate::gbyte_per_s(16);
  Rig rig("hyperx:2,p=3", "minimal", machine);
  rig.send(0, 2, 64, 1);
  rig.send(1, 2, 64, 2);
  rig.run();
  const double first = rig.notes.list.front().arrived.since_start().in_ns();
  const double last = rig.notes.list.back().arrived.since_start().in_ns();
  Rig alone("hyperx:2,p=3", "minimal", machine);
  alone.send(0, 2, 64, 1);
  alone.run();
  EXPECT_EQ(first, alone.notes.arrival_ns(1) + 7);
  EXPECT_EQ(last, alone.notes.arrival_ns(1) + 8);
}

// Uniform traffic on a switch whose nodes always have something to send, with one VC: the part of
// all links to nodes that is used.
double saturation(std::int64_t output_buffer, std::int64_t switch_gbit, int packet_flits,
                  int nodes_wanted = 32) {
  NetworkHardware machine = textbook(1, packet_flits, 256);
  machine.lookahead = true;
  machine.release = Release::head;
  machine.output_buffer = Bytes{output_buffer};
  if (switch_gbit > 0) machine.switch_rate = Rate::gbit_per_s(switch_gbit);
  Rig rig("fattree:radix=" + std::to_string(nodes_wanted) + ",levels=1", "dest-down", machine);
  Rng rng(test_seed());
  const std::uint32_t nodes = rig.topology.graph.node_count();
  constexpr std::int64_t from_ns = 2'000, until_ns = 6'000;
  for (std::uint32_t n = 0; n < nodes; ++n)
    for (std::int64_t sent = 0; sent < until_ns; sent += packet_flits)
      rig.send(n, static_cast<std::uint32_t>(rng.below(nodes)), machine.mtu.count);
  std::uint64_t passed = 0;
  for (const std::int64_t at : {from_ns, until_ns}) {
    EXPECT_TRUE(rig.network->run(Time::zero() + Duration::ns(at)));
    std::uint64_t sum = 0;
    for (std::uint32_t n = 0; n < nodes; ++n)
      sum += rig.network->node_link(NodeId(n)).ejected.bytes;
    passed = sum - passed;
  }
  return static_cast<double>(passed) / static_cast<double>(machine.flit.count) /
         static_cast<double>(until_ns - from_ns) / static_cast<double>(nodes);
}

// Days are short in simulations: idle time is skipped.
TEST(Flits, APacedSwitchKeepsItsPaceForDays) {
  NetworkHardware machine = textbook(1, 4, 16);
  machine.output_buffer = machine.buffer;
  machine.switch_rate = Rate::gbit_per_s(128);  // Twice the links'.
  Rig rig("mesh:3", "dor", machine);
  constexpr std::int64_t day_ns = 86'400'000'000'000;
  for (const std::int64_t at_ns : {std::int64_t{0}, day_ns, 30 * day_ns})
    rig.plan(0, 2, 400, static_cast<std::uint64_t>(at_ns), at_ns);
  rig.run();
  ASSERT_EQ(rig.notes.list.size(), 3u);
  for (const Delivery& d : rig.notes.list)
    EXPECT_EQ(d.arrived - d.born, rig.notes.list.front().arrived - rig.notes.list.front().born);
}

// A head that waits for a busy output keeps those behind it from others: 2 - sqrt(2) of the links
// are used with many ports, and as many times more as the switch is faster, if there are buffers
// behind it. With twice the rate nearly all are.
TEST(Flits, OutputBuffersAndAFastSwitchEndHeadOfLineBlocking) {
  SCOPED_TRACE(replay_text(test_seed()));
  for (const int flits : {1, 4}) {
    const double blocked = saturation(0, 0, flits), buffered = saturation(4096, 0, flits),
                 free = saturation(4096, 128, flits);
    EXPECT_GT(blocked, 0.54) << flits;
    EXPECT_LT(blocked, 0.66) << flits;
    EXPECT_NEAR(buffered, blocked, 0.06) << flits;
    EXPECT_GT(free, 0.93) << flits;
    EXPECT_LE(free, 1) << flits;
    EXPECT_NEAR(saturation(4096, 96, flits), 1.5 * blocked, 0.06) << flits;
    // A slow switch is what limits.
    EXPECT_NEAR(saturation(4096, 16, flits), 0.25 * blocked, 0.05) << flits;
  }
  // With more ends than stand in a word.
  EXPECT_NEAR(saturation(0, 0, 4, 80), 0.59, 0.03);
  EXPECT_GT(saturation(4096, 128, 4, 80), 0.93);
}

}  // namespace
}  // namespace weft
