// SPDX-License-Identifier: Apache-2.0
// Closed forms: steps whose time follows from the cables alone; what must be conserved; what must
// be noticed.
#include "weft/study/step/step.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

// Every stage with a delay of its own; buffers and lookahead that let packets follow each other
// without a gap.
NetworkHardware smooth_machine() {
  NetworkHardware m;
  m.flit = Bytes{8};
  m.mtu = Bytes{256};
  m.buffer = Bytes{64 * 256};
  m.lookahead = true;
  m.route = Duration::ns(3);
  m.vc_alloc = Duration::ns(5);
  m.switch_alloc = Duration::ns(7);
  m.switch_delay = Duration::ns(11);
  m.link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(100), .credit_delay = Duration::ns(90)};
  m.node_link = {
      .rate = Rate::gbyte_per_s(8), .delay = Duration::ns(17), .credit_delay = Duration::ns(13)};
  m.inject_delay = Duration::ns(19);
  m.eject_delay = Duration::ns(23);
  m.order = SendOrder::round_robin;
  return m;
}

// The first flit's way over an idle network.
Duration head_latency(const NetworkHardware& m, int hops) {
  const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
  return m.inject_delay + m.node_link.delay * 2 + router * (hops + 1) + m.link.delay * hops +
         m.eject_delay;
}

// Time of `bytes` one after the other through one place, then over `hops` hops.
Duration stream_time(const NetworkHardware& m, std::int64_t bytes, int hops) {
  return head_latency(m, hops) + serialise(Bytes{bytes - m.flit.count}, m.link.rate);
}

struct Place {
  Topology topology;
  NetworkHardware machine;
  std::unique_ptr<Policy> policy;

  Arena arena() const { return {topology, machine, *policy}; }
};

Place make_place(const std::string& spec, const std::string& routing = "dor",
                 NetworkHardware machine = smooth_machine()) {
  Place place{*make_topology(spec), std::move(machine), nullptr};
  place.machine.vcs = std::max(1, vcs_needed(routing, place.topology));
  auto policy = make_policy(routing, place.topology, place.machine.vcs);
  EXPECT_TRUE(policy) << policy.error().text();
  place.policy = std::move(*policy);
  return place;
}

TrafficMatrix matrix(std::uint32_t ranks, std::vector<Flow> flows) {
  auto made = TrafficMatrix::make(ranks, std::move(flows));
  EXPECT_TRUE(made) << made.error().text();
  return *made;
}

std::vector<std::uint32_t> identity(std::uint32_t ranks) {
  std::vector<std::uint32_t> map(ranks);
  std::iota(map.begin(), map.end(), 0u);
  return map;
}

StepResult play(const Place& place, const TrafficMatrix& traffic,
                const std::vector<std::uint32_t>& map, const StepOptions& options = {}) {
  auto result = play_step(place.arena(), traffic, map, options);
  EXPECT_TRUE(result) << result.error().text();
  return result ? *std::move(result) : StepResult{};
}

class BothOrders : public testing::TestWithParam<SendOrder> {
 protected:
  static Place make_place(const std::string& spec, const std::string& routing = "dor",
                          NetworkHardware machine = smooth_machine()) {
    machine.order = GetParam();
    return weft::make_place(spec, routing, std::move(machine));
  }
};
INSTANTIATE_TEST_SUITE_P(Step, BothOrders,
                         testing::Values(SendOrder::round_robin, SendOrder::queue),
                         [](const auto& tested) {
                           return tested.param == SendOrder::queue ? "queue" : "round_robin";
                         });

TEST_P(BothOrders, OneMessageTakesLatencyAndSerialisation) {
  const Place place = make_place("mesh:4");
  for (const std::int64_t bytes : {8, 256, 100 * 256, 100 * 256 + 100}) {
    const auto traffic = matrix(4, {{0, 3, static_cast<std::uint64_t>(bytes), 1}});
    const StepResult r = play(place, traffic, identity(4));
    EXPECT_EQ(r.time.in_ps(), stream_time(place.machine, bytes, 3).in_ps()) << bytes;
    EXPECT_EQ(r.mean_arrival, r.time);
    EXPECT_EQ(r.carried, Bytes{bytes});
    EXPECT_EQ(r.packets, static_cast<std::uint64_t>((bytes + 255) / 256));
    EXPECT_EQ(r.hops, 3 * r.packets);
    EXPECT_EQ(r.state, StepState::complete);
  }
}

TEST_P(BothOrders, MessagesOverOneLinkAddUp) {
  const Place place = make_place("mesh:2");
  // Ranks 1 and 2 share a node.
  const auto traffic = matrix(3, {{0, 1, 50 * 256, 1}, {0, 2, 70 * 256, 1}});
  const StepResult r = play(place, traffic, std::vector<std::uint32_t>{0, 1, 1});
  EXPECT_EQ(r.time.in_ps(), stream_time(place.machine, 120 * 256, 1).in_ps());
  EXPECT_EQ(r.pairs_arrived, 2u);
  const LinkId link = place.topology.graph.link(RouterId(0), Lattice::up_port(0));
  EXPECT_EQ(r.link_bytes[link.index], 120u * 256);
  EXPECT_EQ(r.busiest, link);
  EXPECT_DOUBLE_EQ(r.busiest_share,
                   serialise(Bytes{120 * 256}, place.machine.link.rate).in_ns() / r.time.in_ns());
}

TEST_P(BothOrders, SendersThatShareALinkShareItsRate) {
  const Place place = make_place("mesh:3");
  const auto traffic = matrix(3, {{0, 2, 400 * 256, 1}, {1, 2, 400 * 256, 1}});
  const StepResult r = play(place, traffic, identity(3));
  const Duration least = serialise(Bytes{800 * 256}, place.machine.link.rate);
  EXPECT_GT(r.time, least);
  EXPECT_LT(r.time, least + head_latency(place.machine, 2) * 2);
}

TEST_P(BothOrders, NeighboursOnARingDoNotDisturbEachOther) {
  const Place place = make_place("ring:8");
  std::vector<Flow> flows;
  for (std::uint32_t n = 0; n < 8; ++n) flows.push_back({n, (n + 1) % 8, 300 * 256, 1});
  const StepResult r = play(place, matrix(8, flows), identity(8));
  EXPECT_EQ(r.time.in_ps(), stream_time(place.machine, 300 * 256, 1).in_ps());
  EXPECT_EQ(r.mean_arrival, r.time);
  EXPECT_EQ(r.pairs, 8u);
}

// More messages than a card has in stock at a time.
TEST_P(BothOrders, ACardWithWorkNeverRests) {
  const Place place = make_place("complete:48", "minimal");
  std::vector<Flow> flows;
  std::int64_t bytes = 0;
  for (std::uint32_t n = 1; n < 48; ++n) {
    flows.push_back({0, n, std::uint64_t{256} * (1 + n * 7 % 13), 1});
    bytes += static_cast<std::int64_t>(flows.back().bytes);
  }
  const StepResult r = play(place, matrix(48, flows), identity(48));
  EXPECT_EQ(r.time.in_ps(), stream_time(place.machine, bytes, 1).in_ps());
}

TEST(SendOrders, DecideWhoWaits) {
  const Place place = make_place("mesh:3");
  NetworkHardware one_queue = smooth_machine();
  one_queue.order = SendOrder::queue;
  const auto traffic = matrix(3, {{0, 1, 500 * 256, 1}, {0, 2, 256, 1}});
  const StepResult in_turn = play(place, traffic, identity(3));
  const StepResult queued = play(make_place("mesh:3", "dor", one_queue), traffic, identity(3));
  EXPECT_EQ(in_turn.last_to, 1u);
  EXPECT_EQ(in_turn.time.in_ps(), stream_time(place.machine, 501 * 256, 1).in_ps());
  // The short message was second, and had to let one packet go first.
  EXPECT_EQ((in_turn.mean_arrival * 2 - in_turn.time).in_ps(),
            stream_time(place.machine, 2 * 256, 2).in_ps());
  StepOptions bursts;
  bursts.burst = 10;  // Now it has to let ten go.
  const StepResult in_bursts = play(place, traffic, identity(3), bursts);
  EXPECT_EQ(in_bursts.time, in_turn.time);
  EXPECT_EQ((in_bursts.mean_arrival * 2 - in_bursts.time).in_ps(),
            stream_time(place.machine, 11 * 256, 2).in_ps());
  EXPECT_EQ(queued.last_to, 2u);
  EXPECT_EQ(queued.time.in_ps(), stream_time(place.machine, 501 * 256, 2).in_ps());
}

// Ranks 1 and 2 share a node, and so share its turns: rank 3 gets half of the card, not a third.
TEST(SendOrders, TurnsAreOfDestinations) {
  const Place place = make_place("complete:3", "minimal");
  const auto traffic =
      matrix(4, {{0, 1, 100 * 256, 1}, {0, 2, 100 * 256, 1}, {0, 3, 100 * 256, 1}});
  const std::vector<std::uint32_t> map = {0, 1, 1, 2};
  const StepResult r = play(place, traffic, map);
  EXPECT_EQ(r.last_to, 2u);
  EXPECT_EQ(r.time.in_ps(), stream_time(place.machine, 300 * 256, 1).in_ps());
  // Rank 1 is done with packet 199, rank 3 with packet 200.
  const Duration sum =
      stream_time(place.machine, 199 * 256, 1) + stream_time(place.machine, 200 * 256, 1) + r.time;
  EXPECT_EQ(r.mean_arrival.in_ps(), sum.in_ps() / 3);
}

TEST_P(BothOrders, MessagesOfAPairAreCutOneByOne) {
  const Place place = make_place("mesh:2");
  const auto traffic = matrix(2, {{0, 1, 3002, 10}, {1, 0, 0, 7}});
  const StepResult r = play(place, traffic, identity(2));
  EXPECT_EQ(r.packets, 10u * 2 + 7);  // 300 or 301 bytes make two packets, nothing makes one.
  EXPECT_EQ(r.carried, Bytes{3002});
  EXPECT_EQ(r.pairs_arrived, 2u);
}

TEST_P(BothOrders, ShrunkStepsCarryTheirPart) {
  const Place place = make_place("mesh:3");
  const auto traffic =
      matrix(3, {{0, 1, 16 * 256 * 9, 1}, {0, 2, 5, 1}, {1, 2, 160 * 100, 160}, {2, 0, 0, 1}});
  StepOptions options;
  options.shrink = 16;
  const StepResult r = play(place, traffic, identity(3), options);
  EXPECT_EQ(r.carried, Bytes{256 * 9 + 1 + 10 * 100});
  EXPECT_EQ(r.packets, 9u + 1 + 10 + 1);
}

TEST(Step, OfNothingTakesNoTime) {
  const Place place = make_place("mesh:3");
  EXPECT_EQ(play(place, matrix(3, {}), identity(3)).time, Duration::zero());
  // What stays on a node, or with a rank, does not touch the network.
  const auto traffic = matrix(3, {{0, 1, 1 << 20, 1}, {1, 0, 300, 1}, {2, 2, 99, 1}});
  const StepResult r = play(place, traffic, std::vector<std::uint32_t>{1, 1, 2});
  EXPECT_EQ(r.time, Duration::zero());
  EXPECT_EQ(r.pairs, 0u);
  EXPECT_EQ(r.packets, 0u);
  EXPECT_EQ(r.state, StepState::complete);
}

// Random pairs, sizes and places; some ranks share a node.
struct Mess {
  TrafficMatrix traffic;
  std::vector<std::uint32_t> map;
};

Mess make_mess(const Place& place, std::uint32_t ranks, std::uint64_t seed) {
  Rng rng = Rng(seed).stream("mess", 0);
  const std::uint32_t nodes = place.topology.graph.node_count();
  std::vector<Flow> flows;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint32_t> others = identity(ranks);
    for (std::uint32_t i = 0; i < 6; ++i) {
      std::swap(others[i], others[i + rng.below(ranks - i)]);
      flows.push_back({rank, others[i], 1 + rng.below(8'000), 1 + rng.below(3)});
    }
  }
  std::vector<std::uint32_t> map;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    map.push_back(static_cast<std::uint32_t>(rng.below(nodes)));
  return {matrix(ranks, flows), map};
}

// First dimension first, the shorter way. REQUIRES: rings are odd; on an even one each packet that
// goes exactly half round draws lots.
void add_route(const Topology& topology, RouterId from, RouterId to, std::uint64_t bytes,
               std::vector<std::uint64_t>& loads) {
  const Lattice& cube = *topology.shape->lattice();
  const Coordinates target = coordinates(topology, to);
  for (int d = 0; d < cube.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const int radix = cube.radix[i];
    while (coordinates(topology, from)[i] != target[i]) {
      const int ahead = (target[i] - coordinates(topology, from)[i] + radix) % radix;
      const bool up = cube.wrap[i] ? 2 * ahead < radix : target[i] > coordinates(topology, from)[i];
      const int port = up ? Lattice::up_port(d) : Lattice::down_port(d);
      loads[topology.graph.link(from, port).index] += bytes;
      from = topology.graph.ports(from)[static_cast<std::size_t>(port)].peer;
    }
  }
}

TEST_P(BothOrders, LinksCarryWhatTheMapSays) {
  const std::uint64_t seed = test_seed(7);
  SCOPED_TRACE(replay_text(seed));
  for (const char* spec : {"torus:5x3x3", "mesh:5x4", "torus:3x5,p=2"}) {
    const Place place = make_place(spec);
    const Topology& topology = place.topology;
    const Mess mess = make_mess(place, 40, seed);
    const StepResult r = play(place, mess.traffic, mess.map);
    std::vector<std::uint64_t> loads(topology.graph.link_count());
    std::uint64_t hop_bytes = 0, carried = 0;
    for (const Flow& flow : mess.traffic.flows()) {
      const RouterId from = topology.graph.router_of(NodeId(mess.map[flow.from]));
      const RouterId to = topology.graph.router_of(NodeId(mess.map[flow.to]));
      add_route(topology, from, to, flow.bytes, loads);
      hop_bytes += flow.bytes * static_cast<std::uint64_t>(distance(topology, from, to));
      if (mess.map[flow.from] != mess.map[flow.to]) carried += flow.bytes;
    }
    EXPECT_EQ(r.link_bytes, loads) << spec;
    EXPECT_EQ(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}), hop_bytes) << spec;
    EXPECT_EQ(r.carried, Bytes{static_cast<std::int64_t>(carried)}) << spec;
    EXPECT_EQ(r.pairs_arrived, r.pairs) << spec;
    EXPECT_LE(r.busiest_share, 1) << spec;
  }
}

TEST_P(BothOrders, LinksCarryHopBytesWhereLotsAreDrawn) {
  const std::uint64_t seed = test_seed(5);
  SCOPED_TRACE(replay_text(seed));
  const Place place = make_place("torus:4x6,p=2");
  const Graph& graph = place.topology.graph;
  const Mess mess = make_mess(place, 60, seed);
  const StepResult r = play(place, mess.traffic, mess.map);
  std::uint64_t hop_bytes = 0;
  for (const Flow& flow : mess.traffic.flows())
    hop_bytes += flow.bytes * static_cast<std::uint64_t>(distance(
                                  place.topology, graph.router_of(NodeId(mess.map[flow.from])),
                                  graph.router_of(NodeId(mess.map[flow.to]))));
  EXPECT_EQ(std::accumulate(r.link_bytes.begin(), r.link_bytes.end(), std::uint64_t{0}), hop_bytes);
}

TEST_P(BothOrders, WorkersChangeNothing) {
  const std::uint64_t seed = test_seed(11);
  SCOPED_TRACE(replay_text(seed));
  for (const char* routing : {"dor", "min-adaptive", "valiant"}) {
    const Place place = make_place("torus:6x4x3", routing);
    const Mess mess = make_mess(place, 100, seed);
    StepOptions options;
    const StepResult alone = play(place, mess.traffic, mess.map, options);
    EXPECT_GT(alone.time, Duration::zero());
    for (const int threads : {2, 4}) {
      options.threads = threads;
      EXPECT_EQ(play(place, mess.traffic, mess.map, options), alone) << routing << " " << threads;
    }
    // Cut short at a moment of the clock: still the same.
    options.limit = alone.time / 3;
    const StepResult late = play(place, mess.traffic, mess.map, options);
    options.threads = 1;
    EXPECT_EQ(play(place, mess.traffic, mess.map, options), late) << routing;
    EXPECT_EQ(late.state, StepState::late);
  }
}

TEST(Step, EndsAtItsLimit) {
  const Place place = make_place("mesh:2");
  const auto traffic = matrix(2, {{0, 1, 1 << 20, 1}});
  const StepResult whole = play(place, traffic, identity(2));
  StepOptions options;
  options.limit = whole.time + Duration::ps(1);
  EXPECT_EQ(play(place, traffic, identity(2), options), whole);
  options.limit = whole.time / 2;
  const StepResult late = play(place, traffic, identity(2), options);
  EXPECT_EQ(late.state, StepState::late);
  EXPECT_EQ(late.time, options.limit);
  EXPECT_LT(late.packets, whole.packets);
  EXPECT_EQ(late.pairs_arrived, 0u);
}

TEST(Step, StopsWhenAsked) {
  const Place place = make_place("mesh:2");
  const auto traffic = matrix(2, {{0, 1, 64 << 20, 1}});
  std::atomic<bool> stop = true;
  StepOptions options;
  options.stop = &stop;
  EXPECT_EQ(play(place, traffic, identity(2), options).state, StepState::stopped);
  stop = false;
  double share = 0;
  options.progress = [&](double now) {
    EXPECT_GE(now, share);
    share = now;
    stop = now > 0.01;
  };
  const StepResult r = play(place, traffic, identity(2), options);
  EXPECT_EQ(r.state, StepState::stopped);
  EXPECT_GT(r.carried, Bytes{0});
  EXPECT_LT(r.carried, Bytes{64 << 20});
  EXPECT_EQ(r.pairs_arrived, 0u);
}

// A ring without datelines: the textbook deadlock.
class AlwaysUp final : public Policy {
 public:
  void next(RouterId here, const Flight& flight, const PortView&, Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    out.add({.port = 0, .vcs = 1, .state = flight.state});
  }
  PolicyFacts facts() const override { return {.hops_max = 3}; }
};

TEST_P(BothOrders, DeadlockIsAnError) {
  Place place = make_place("ring:4");
  place.machine.buffer = Bytes{256};
  place.policy = std::make_unique<AlwaysUp>();
  std::vector<Flow> flows;
  for (std::uint32_t n = 0; n < 4; ++n) flows.push_back({n, (n + 3) % 4, 20 * 256, 1});
  const auto r = play_step(place.arena(), matrix(4, flows), identity(4), {});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().broken(), Broken::run);
  EXPECT_NE(r.error().message().find("deadlock"), std::string::npos) << r.error().text();
  EXPECT_NE(r.error().message().find("(0) from (3) VC 0"), std::string::npos) << r.error().text();
}

TEST(Step, WithoutARouteIsAnError) {
  Place place = make_place("mesh:3");
  const std::vector<LinkId> broken = {place.topology.graph.link(RouterId(1), Lattice::up_port(0))};
  place.topology.graph = Graph::with_down(std::move(place.topology.graph), broken);
  const auto r = play_step(place.arena(), matrix(3, {{0, 2, 1000, 1}}), identity(3), {});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message().find("no way from"), std::string::npos) << r.error().text();
}

TEST(Step, RefusesWhatDoesNotFit) {
  const Place place = make_place("mesh:3");
  const auto traffic = matrix(3, {{0, 2, 1000, 1}});
  const auto error = [&](const std::vector<std::uint32_t>& map, const StepOptions& options) {
    const auto r = play_step(place.arena(), traffic, map, options);
    return r ? std::string() : r.error().message();
  };
  EXPECT_NE(error({0, 1}, {}).find("3 ranks but the map has only 2"), std::string::npos);
  EXPECT_NE(error({0, 1, 3}, {}).find("rank 2 on node 3"), std::string::npos);
  StepOptions options;
  options.shrink = 0;
  EXPECT_NE(error({0, 1, 2}, options), "");
  options = {};
  options.threads = 0;
  EXPECT_NE(error({0, 1, 2}, options), "");
  options = {};
  options.limit = Duration::ns(-1);
  EXPECT_NE(error({0, 1, 2}, options), "");
  options = {};
  options.burst = 0;
  EXPECT_NE(error({0, 1, 2}, options), "");
}

}  // namespace
}  // namespace weft
