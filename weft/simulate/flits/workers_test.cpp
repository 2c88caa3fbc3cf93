// SPDX-License-Identifier: Apache-2.0
// Any number of workers simulates the same: every arrival, departure, count and buffer, what runs
// into a dead end, and what locks up.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/simulate/flits/flit_network.hpp>

namespace weft {
namespace {

// Nodes send by themselves at times of their own, and answer some of what they get.
class Talk final : public Host {
 public:
  using Event = std::tuple<std::uint64_t, std::int64_t, std::int64_t, int>;

  Talk(std::uint32_t nodes, int rounds, std::uint64_t seed)
      : nodes_(nodes), sent_(nodes, 0), owed_(nodes), events_(nodes), bits_(seed) {
    for (std::vector<std::uint32_t>& owed : owed_) owed.reserve(4);
    rounds_ = rounds;
  }
  void start(Network& network) {
    network_ = &network;
    for (std::uint32_t n = 0; n < nodes_; ++n)
      network.set_alarm(NodeId(n), Time::ps(static_cast<std::int64_t>(draw(n, 1000) % 4001)));
  }
  Time alarm(int, NodeId node, Time now) override {
    const std::uint32_t n = node.index;
    for (const std::uint32_t to : std::exchange(owed_[n], {})) post(n, to, 40, now);
    if (sent_[n] >= static_cast<std::uint32_t>(rounds_)) return Time::never();
    const std::uint64_t bits = draw(n, sent_[n]);
    post(n, static_cast<std::uint32_t>(bits % nodes_), static_cast<std::int64_t>(bits % 311), now);
    ++sent_[n];
    // Sometimes at once, sometimes in the middle of a cycle, sometimes after a long pause.
    return now + Duration::ps(1 + static_cast<std::int64_t>((bits >> 20) % 9000) +
                              ((bits >> 40) % 50 == 0 ? 3'000'000 : 0));
  }
  void delivered(int, const Delivery& d) override {
    events_[d.to.index].push_back({d.cookie, d.arrived.in_ps(), d.entered.in_ps(), d.hops});
    if (d.cookie % 3 != 0 || d.from == d.to || (d.cookie >> 63) != 0) return;
    owed_[d.to.index].push_back(d.from.index);
    network_->set_alarm(d.to, d.arrived);
  }
  void departed(int, const Departure& d) override {
    events_[d.from.index].push_back({d.cookie, d.at.in_ps(), -1, -1});
  }
  const std::vector<std::vector<Event>>& events() const { return events_; }

 private:
  std::uint64_t draw(std::uint32_t node, std::uint32_t i) const {
    return bits_.at((std::uint64_t{node} << 32) | i);
  }
  void post(std::uint32_t from, std::uint32_t to, std::int64_t bytes, Time now) {
    const std::uint64_t answer = bytes == 40 ? std::uint64_t{1} << 63 : 0;
    network_->send(
        {NodeId(from), NodeId(to), Bytes{bytes}, answer | (std::uint64_t{from} << 20) | sent_[from],
         Duration::ns(sent_[from] % 7 == 0 ? 50 : 0)},
        now);
  }

  Network* network_ = nullptr;
  const std::uint32_t nodes_;
  int rounds_ = 0;
  std::vector<std::uint32_t> sent_;               // By node.
  std::vector<std::vector<std::uint32_t>> owed_;  // By node: those that wait for an answer.
  std::vector<std::vector<Event>> events_;        // By node.
  const Rng bits_;
};

struct Outcome {
  std::vector<std::vector<Talk::Event>> events;
  std::vector<std::uint64_t> counts;  // And what is known of lines.
  std::string stuck;
  bool operator==(const Outcome&) const = default;
};

void note(Outcome& outcome, const LinkCount& link) {
  outcome.counts.push_back(link.packets);
  outcome.counts.push_back(link.bytes);
  outcome.counts.push_back(link.news);
}

void note_all(Outcome& outcome, const Network& network, const Graph& graph, int vcs) {
  const NetworkCounts counts = network.counts();
  for (const std::uint64_t n :
       {counts.packets_sent, counts.packets_delivered, counts.hops, counts.visits})
    outcome.counts.push_back(n);
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) note(outcome, network.link(LinkId(l)));
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    note(outcome, network.node_link(NodeId(n)).injected);
    note(outcome, network.node_link(NodeId(n)).ejected);
  }
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    for (int port = 0; port < static_cast<int>(graph.ports(RouterId(r)).size()); ++port) {
      for (int vc = 0; vc < vcs; ++vc) {
        const BufferLevel level = network.buffer(RouterId(r), port, vc, Time::never());
        outcome.counts.push_back(level.packets);
        outcome.counts.push_back(static_cast<std::uint64_t>(level.bytes.count));
      }
    }
  }
}

struct Case {
  std::string spec, routing;
};

struct Machine {
  NetworkHardware hardware;
  FlitModel model;
};

NetworkHardware draw_hardware(Rng& rng, int vcs) {
  const auto any = [&](std::int64_t most) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
  };
  NetworkHardware m;
  m.vcs = vcs;
  m.mtu = m.flit * (1 + any(6));
  m.header = Bytes{any(9)};
  m.buffer = m.packet_max() * 2 + m.flit * any(20);
  if (any(2) == 0) m.output_buffer = m.packet_max() + m.flit * (1 + any(20));
  if (any(2) == 0) m.switch_rate = Rate::gbit_per_s(16 * (1 + any(12)));
  m.route = Duration::ns(any(4));
  m.switch_delay = Duration::ns(any(3));
  m.link.delay = Duration::ns(1 + any(12));
  m.link.credit_delay = Duration::ns(1 + any(12));
  if (any(3) == 0) m.link.rate = Rate::gbyte_per_s(3);
  if (any(3) == 0) m.eject_rate = Rate::gbyte_per_s(2);
  m.lookahead = any(2) == 0;
  m.release = any(2) == 0 ? Release::head : Release::tail;
  m.order = any(2) == 0 ? SendOrder::queue : SendOrder::round_robin;
  m.arbitration = static_cast<Arbitration>(any(3));
  m.news.mode = static_cast<NewsMode>(any(4));
  m.news.any_credit = any(2) == 0;
  m.news.hop = Duration::ns(any(2) * 5);
  return m;
}

FlitModel draw_model(Rng& rng, NetworkHardware& hardware, const Policy& policy) {
  FlitModel model;
  model.allocator = static_cast<Allocation>(rng.below(3));
  if (model.allocator == Allocation::islip)
    model.iterations = 1 + static_cast<int>(rng.below(2));
  else
    model.arbiter = static_cast<Arbiter>(rng.below(2));
  model.speculation = rng.below(2) == 0;
  model.hold_switch = rng.below(2) == 0;
  model.requests = static_cast<VcRequests>(rng.below(2));
  if (rng.below(2) == 0 && !policy.facts().returns) {
    model.flow_control = FlowControl::wormhole;
    hardware.release = Release::head;
  }
  return model;
}

void note_lines(Outcome& outcome, const Network& network, const Policy& policy,
                std::uint32_t routers) {
  if (policy.lines() == nullptr) return;
  for (std::uint32_t r = 0; r < routers; ++r) {
    for (int port = 0; port < policy.lines()->ports(); ++port) {
      for (int l = 0; l < policy.lines()->count(); ++l) {
        const LineNews known = network.line(RouterId(r), port, l);
        outcome.counts.push_back(known.word);
        outcome.counts.push_back(static_cast<std::uint64_t>(known.length));
      }
    }
  }
}

Outcome simulate(const Topology& topology, const Policy& policy, const Machine& machine,
                 const NetworkOptions& options, std::uint64_t seed) {
  const Graph& graph = topology.graph;
  Talk talk(graph.node_count(), 30, seed);
  auto made = make_flit_network(topology, machine.hardware, policy, talk, options, machine.model);
  EXPECT_TRUE(made) << made.error().text();
  Network& network = **made;
  talk.start(network);
  Outcome outcome;
  // Runs end between cycles, and in the middle of windows.
  for (const std::int64_t until : {5'500, 12'345, 100'000, 4'000'001}) {
    const auto remains = network.run(Time::ps(until));
    EXPECT_TRUE(remains);
    outcome.counts.push_back(*remains ? 1 : 0);
    note_all(outcome, network, graph, machine.hardware.vcs);
    note_lines(outcome, network, policy, graph.router_count());
  }
  const auto remains = network.run(Time::never());
  EXPECT_TRUE(remains && !*remains);
  note_all(outcome, network, graph, machine.hardware.vcs);
  note_lines(outcome, network, policy, graph.router_count());
  EXPECT_EQ(network.counts().packets_sent, network.counts().packets_delivered);
  outcome.events = talk.events();
  outcome.stuck = network.find_deadlock();
  return outcome;
}

class Workers : public testing::TestWithParam<Case> {};

TEST_P(Workers, DoNotShow) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  const Topology topology = *make_topology(GetParam().spec);
  const int least = vcs_needed(GetParam().routing, topology);
  const int rounds = topology.graph.node_count() > 100 ? 1 : 6;
  for (int round = 0; round < rounds; ++round) {
    const int vcs = least + static_cast<int>(rng.below(3));
    const auto policy = *make_policy(GetParam().routing, topology, vcs);
    Machine machine{draw_hardware(rng, vcs), {}};
    machine.model = draw_model(rng, machine.hardware, *policy);
    const Lines* const lines = policy->lines();
    if (lines != nullptr && lines->kind() == LineKind::average &&
        machine.hardware.news.mode == NewsMode::instant)
      machine.hardware.news.mode = NewsMode::inband;
    const std::uint64_t talk = rng.below(1'000'000);
    const Outcome alone = simulate(topology, *policy, machine, {}, talk);
    std::size_t events = 0;
    for (const auto& list : alone.events) events += list.size();
    EXPECT_GT(events, std::size_t{60} * topology.graph.node_count());
    for (const int workers : {2, 3, 4, 7}) {
      NetworkOptions options;
      options.workers = workers;
      if (workers == 3) options.cut = Cut::ranges;
      if (workers == 4) options.window = Duration::ps(1);
      EXPECT_TRUE(simulate(topology, *policy, machine, options, talk) == alone)
          << workers << " workers, round " << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, Workers,
    testing::Values(Case{"mesh:5x3,p=2", "dor"}, Case{"torus:4x4", "min-adaptive"},
                    Case{"torus:5x3", "ugal-l"}, Case{"torus:3x3x3", "valiant"},
                    Case{"mesh:4x4", "planar-adaptive"},
                    Case{"fattree:k=4,levels=2", "adaptive-up"},
                    Case{"dragonfly:a=4,h=2,p=2", "minimal"}, Case{"hyperx:3x3,p=2", "minimal"},
                    Case{"torus:5x4", "crossline"}, Case{"mesh:6x4", "crossline:escape"},
                    Case{"torus:4x4", "foresight"}, Case{"mesh:5x4", "rca-1d"},
                    Case{"mesh:3,p=64", "dor"}));

// Goes up a ring, and knows no way on from some routers.
class RoundTheRing final : public Policy {
 public:
  RoundTheRing(const Graph& graph, std::uint32_t dead_ends) : graph_(graph), dead_(dead_ends) {}
  void next(RouterId here, const Flight& flight, const PortView&, Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    if (((dead_ >> here.index) & 1) != 0) return;
    const std::span<const Port> ports = graph_.ports(here);
    const std::uint32_t next = (here.index + 1) % graph_.router_count();
    for (std::uint16_t port = 0; port < ports.size(); ++port)
      if (ports[port].peer.index == next) return out.add({.port = port, .vcs = 1, .state = 0});
  }
  PolicyFacts facts() const override { return {.hops_max = 8}; }

 private:
  const Graph& graph_;
  const std::uint32_t dead_;
};

NetworkHardware small_machine(Bytes output_buffer = {}) {
  NetworkHardware m;
  m.output_buffer = output_buffer;
  m.mtu = m.flit * 16;
  m.release = Release::head;
  m.link.delay = m.link.credit_delay = Duration::ns(7);
  return m;
}

// The first dead end is the one that is told, though another worker may find a later one first.
TEST(FlitWorkers, FailAlike) {
  const Topology ring = *make_topology("torus:12");
  const RoundTheRing policy(ring.graph, (1u << 10) | (1u << 5) | (1u << 7));
  std::vector<std::string> texts;
  for (const int workers : {1, 2, 3, 4}) {
    Talk host(ring.graph.node_count(), 0, 1);
    NetworkOptions options;
    options.workers = workers;
    const auto network = *make_flit_network(ring, small_machine(), policy, host, options);
    network->send(NodeId(0), NodeId(8), Bytes{8}, Time::zero());
    network->send(NodeId(9), NodeId(11), Bytes{8}, Time::ps(40'200));
    network->send(NodeId(6), NodeId(9), Bytes{8}, Time::ps(40'200));
    for (int again = 0; again < 2; ++again) {
      const auto ran = network->run(Time::never());
      ASSERT_FALSE(ran);
      texts.push_back(ran.error().text());
    }
  }
  for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
}

// While a worker passes on a long packet slowly, nothing arrives from other workers for thousands
// of cycles. It must not take that for a deadlock.
TEST(FlitWorkers, WaitForTheSlow) {
  const Topology line = *make_topology("mesh:4");
  const auto policy = *make_policy("dor", line, 1);
  NetworkHardware slow_switch = small_machine(Bytes{8192}), slow_links = small_machine();
  slow_switch.switch_rate = Rate::bit_per_s(320'000'000);  // A 200th of the links'.
  for (NetworkHardware* const machine : {&slow_switch, &slow_links}) {
    machine->vcs = 1;
    machine->mtu = machine->buffer = Bytes{machine == &slow_links ? 16 : 4096};
    machine->release = Release::tail;
  }
  // A flit takes longer than it takes to see that nothing moves any more on an equally fast
  // network.
  slow_links.inject_rate = slow_links.eject_rate = Rate::gbit_per_s(64);
  slow_links.link.rate = Rate::bit_per_s(900'000);
  for (const NetworkHardware& machine : {slow_switch, slow_links}) {
    std::vector<Talk::Event> first;
    for (const int workers : {1, 2, 4}) {
      Talk host(line.graph.node_count(), 0, 1);
      NetworkOptions options;
      options.workers = workers;
      const auto made = make_flit_network(line, machine, *policy, host, options);
      ASSERT_TRUE(made) << made.error().text();
      (*made)->send(NodeId(0), NodeId(3), machine.mtu, Time::zero(), 1);
      const auto ran = (*made)->run(Time::never());
      ASSERT_TRUE(ran) << ran.error().text();
      EXPECT_EQ((*made)->counts().packets_delivered, 1u) << workers;
      EXPECT_EQ((*made)->find_deadlock(), "");
      if (workers == 1) first = host.events()[3];
      EXPECT_EQ(host.events()[3], first) << workers;
    }
  }
}

TEST(FlitWorkers, LockUpAlike) {
  const Topology ring = *make_topology("torus:6");
  const RoundTheRing policy(ring.graph, 0);
  for (const Bytes output_buffer : {Bytes{0}, Bytes{200}}) {
    std::vector<std::string> texts;
    for (const int workers : {1, 2, 3, 6}) {
      Talk host(ring.graph.node_count(), 0, 1);
      NetworkOptions options;
      options.workers = workers;
      const NetworkHardware machine = small_machine(output_buffer);
      const auto network = *make_flit_network(ring, machine, policy, host, options);
      for (std::uint32_t n = 0; n < 6; ++n)
        for (std::uint64_t i = 0; i < 8; ++i)
          network->send(NodeId(n), NodeId((n + 3) % 6), Bytes{128}, Time::zero(), i);
      const auto early = network->run(Time::zero() + Duration::us(10));
      ASSERT_TRUE(early);
      EXPECT_TRUE(*early);
      texts.push_back(network->find_deadlock());
      EXPECT_NE(texts.back().find("wait for each other"), std::string::npos) << texts.back();
      // Nothing will ever happen.
      const auto ran = network->run(Time::never());
      ASSERT_TRUE(ran);
      EXPECT_FALSE(*ran);
      texts.push_back(network->find_deadlock());
    }
    for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
    EXPECT_EQ(texts.front().find(" to ") != std::string::npos, output_buffer.count > 0);
  }
}

}  // namespace
}  // namespace weft
