// SPDX-License-Identifier: Apache-2.0
// The fast router model against the slow obvious one, over random machines, networks, routings and
// loads; and against itself for other numbers of workers and processes, cuts and window lengths.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/property/oracle.hpp"
#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/text.hpp>
#include <weft/parallel/processes/local.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft::test {
namespace {

// Sends the jobs when they are born, notes when they arrive.
class Replay final : public Host {
 public:
  Replay(const std::vector<Job>& jobs, std::uint32_t nodes)
      : jobs_(jobs), next_(nodes), arrived_(jobs.size(), INT64_MAX) {
    for (std::size_t j = 0; j < jobs.size(); ++j) next_[jobs[j].from].push_back(j);
    for (auto& list : next_) std::reverse(list.begin(), list.end());
  }
  void start(Network& network) {
    network_ = &network;
    for (std::uint32_t n = 0; n < next_.size(); ++n) {
      if (!next_[n].empty() && network.is_here(NodeId(n)))
        network.set_alarm(NodeId(n), Time::ps(jobs_[next_[n].back()].born));
    }
  }
  Time alarm(int, NodeId node, Time now) override {
    auto& list = next_[node.index];
    while (!list.empty() && jobs_[list.back()].born == now.in_ps()) {
      const Job& job = jobs_[list.back()];
      network_->send(node, NodeId(job.to), Bytes{job.size}, now, list.back());
      list.pop_back();
    }
    return list.empty() ? Time::never() : Time::ps(jobs_[list.back()].born);
  }
  void delivered(int, const Delivery& d) override {
    arrived_[d.cookie] = d.arrived.in_ps();
    const Job& job = jobs_[d.cookie];
    EXPECT_EQ(d.from.index, job.from);
    EXPECT_EQ(d.to.index, job.to);
    EXPECT_EQ(d.size.count, job.size);
    EXPECT_EQ(d.born.in_ps(), job.born);
    EXPECT_GE(d.entered, d.born);
  }
  const std::vector<std::int64_t>& arrived() const { return arrived_; }

 private:
  const std::vector<Job>& jobs_;
  std::vector<std::vector<std::size_t>> next_;
  std::vector<std::int64_t> arrived_;
  Network* network_ = nullptr;
};

struct Scene {
  std::string topology, routing;
  int vcs;
  NetworkHardware machine;
  std::vector<Job> jobs;
};

template <typename T>
const T& any(Rng& rng, const std::vector<T>& list) {
  return list[rng.below(list.size())];
}

NetworkHardware random_machine(Rng& rng, int vcs) {
  NetworkHardware m;
  const auto cycles = [&](std::uint64_t least, std::uint64_t most) {
    return Duration::ns(static_cast<std::int64_t>(least + rng.below(most - least + 1)));
  };
  m.vcs = vcs;
  m.flit = Bytes{any<std::int64_t>(rng, {1, 8, 16})};
  m.mtu = Bytes{any<std::int64_t>(rng, {8, 64, 256})};
  m.header = Bytes{any<std::int64_t>(rng, {0, 0, 12})};
  const std::int64_t packets = any<std::int64_t>(rng, {1, 1, 2, 5});
  m.buffer = Bytes{m.packet_max().count * packets + any<std::int64_t>(rng, {0, 0, 7})};
  if (rng.below(3) == 0)
    m.output_buffer = Bytes{m.packet_max().count * any<std::int64_t>(rng, {1, 2, 4})};
  if (rng.coin()) m.packets_per_buffer = static_cast<int>(1 + rng.below(6));
  m.route = cycles(0, 3);
  m.vc_alloc = cycles(0, 2);
  m.switch_alloc = cycles(0, 2);
  m.switch_delay = cycles(0, 5);
  m.link = {.rate = Rate::gbit_per_s(any<std::int64_t>(rng, {8, 64, 100})),
            .delay = cycles(1, 6),
            .credit_delay = cycles(1, 4)};
  if (rng.below(4) == 0) {  // One dimension has cables of its own, where there are dimensions.
    m.link_class["y"] = {.rate = Rate::gbit_per_s(any<std::int64_t>(rng, {16, 64})),
                         .delay = cycles(1, 6),
                         .credit_delay = cycles(1, 4)};
  }
  m.node_link = {.rate = Rate::gbit_per_s(any<std::int64_t>(rng, {32, 64, 200})),
                 .delay = cycles(1, 3),
                 .credit_delay = cycles(1, 2)};
  if (rng.below(4) == 0) m.inject_rate = Rate::gbit_per_s(16);
  if (rng.below(4) == 0) m.eject_rate = Rate::gbit_per_s(24);
  if (rng.below(4) == 0) m.switch_rate = Rate::gbit_per_s(any<std::int64_t>(rng, {50, 100}));
  // Without output buffers the oracle has one crossbar lane.
  if (m.switch_rate > Rate() && m.output_buffer.count == 0)
    m.switch_rate = std::min(m.switch_rate, m.link.rate);
  m.arbitration = any<Arbitration>(
      rng, {Arbitration::through_first, Arbitration::round_robin, Arbitration::age});
  m.lookahead = rng.coin();
  m.commit = rng.coin();
  m.release = rng.below(4) == 0 ? Release::head : Release::tail;
  m.news.mode = any<NewsMode>(rng, {NewsMode::inband, NewsMode::inband, NewsMode::sideband,
                                    NewsMode::instant, NewsMode::none});
  if (rng.coin()) m.news.hop = cycles(1, 8);
  m.news.bits = any(rng, std::vector{3, 8, 64});
  m.news.any_credit = rng.below(4) == 0;
  m.news.one_line = rng.below(4) == 0;
  if (rng.below(3) ==
      0) {  // One rate for all, as in most simulations: the plain router has code for it.
    m.node_link.rate = m.link.rate;
    m.inject_rate = m.eject_rate = m.switch_rate = Rate();
    m.output_buffer = Bytes{};
    m.lookahead = true;
  }
  m.order = rng.coin() ? SendOrder::round_robin : SendOrder::queue;
  return m;
}

Scene random_scene(std::uint64_t seed) {
  Rng rng = Rng(seed).stream("scene");
  struct Kind {
    const char *topology, *routing;
    int vcs;
  };
  const std::vector<Kind> kinds = {
      {"mesh:3x3", "dor", 1},
      {"mesh:4x2,p=2", "dor", 3},
      {"torus:4x4", "dor", 2},
      {"torus:5", "dor", 2},
      {"mesh:3x3", "min-adaptive", 3},
      {"torus:4x3", "min-adaptive", 4},
      {"mesh:3x4", "valiant", 2},
      {"fattree:k=2,levels=3", "adaptive-up", 2},
      {"fattree:k=3,levels=2", "dest-down", 1},
      {"dragonfly:a=3,h=1,p=2", "ugal-l", 0},
      {"hyperx:3x3", "minimal", 0},
      {"complete:5", "up-down", 1},
      {"mesh:4x3", "crossline", 2},
      {"torus:4x4", "crossline", 6},
      {"torus:5x3", "crossline:nofold,parity,shorter-loses,cut", 7},
      {"mesh:3x3x2", "crossline:better-net", 4},
      {"torus:4x3", "crossline:escape", 4},
      {"mesh:5x4", "crossline:escape,cut,parity", 2},
      {"torus:6x2", "crossline:ring,unknown,number", 6},
      {"torus:5x4", "crossline:once", 6},
      {"mesh:4x4,p=2", "crossline:escape,once,unknown", 3},
      {"torus:5x4", "rca-1d", 4},
      {"torus:4x5", "foresight", 4},
      {"mesh:4x4", "rca-1d", 2},
      {"mesh:9x2", "crossline:escape,unknown", 2},
      {"random:n=12,d=3", "shortest", 0},
      {"random:n=10,d=3,p=2", "min-adaptive", 0},
      {"mesh:5x2,p=2", "min-adaptive", 2},
      {"slimfly:q=3,p=1", "ugal-l", 0},
      {"polarfly:q=3,p=1", "valiant", 0},
      {"fattree:k=2,levels=3", "min-adaptive", 4},
  };
  const Kind kind = any(rng, kinds);
  Scene scene{kind.topology, kind.routing, kind.vcs, {}, {}};
  Result<Topology> topology = make_topology(scene.topology);
  for (const PolicyEntry& entry : builtin_policies()) {
    if (scene.vcs == 0 && entry.name == scene.routing) scene.vcs = entry.vcs_needed(*topology);
  }
  scene.machine = random_machine(rng, scene.vcs);
  if (scene.routing == "rca-1d") {
    scene.machine.news.bits = 64;
    if (scene.machine.news.mode == NewsMode::instant) scene.machine.news.mode = NewsMode::sideband;
  }
  const std::uint32_t nodes = topology->graph.node_count();
  const std::uint64_t spread = any<std::uint64_t>(rng, {20, 200, 2000});
  std::vector<std::int64_t> born(nodes, 0);
  const int count = 160;
  for (int j = 0; j < count; ++j) {
    const auto from = static_cast<std::uint32_t>(rng.below(nodes));
    const bool hot = rng.below(3) == 0;
    const auto to = hot ? nodes - 1 : static_cast<std::uint32_t>(rng.below(nodes));
    const auto size = static_cast<std::int64_t>(
        1 + rng.below(static_cast<std::uint64_t>(scene.machine.mtu.count) * 3));
    born[from] += static_cast<std::int64_t>(rng.below(spread)) * 1000;
    scene.jobs.push_back({from, to, size, born[from]});
  }
  return scene;
}

struct Outcome {
  std::vector<std::int64_t> arrived;
  NetworkCounts counts;
  std::uint64_t news_flits = 0;
};

Outcome play(const Scene& scene, const NetworkOptions& options) {
  Result<Topology> topology = make_topology(scene.topology);
  auto policy = make_policy(scene.routing, *topology, scene.vcs);
  Replay replay(scene.jobs, topology->graph.node_count());
  auto network = Network::make(*topology, scene.machine, **policy, replay, options);
  if (!network) ADD_FAILURE() << network.error().text();
  if (!network) return {};
  replay.start(**network);
  // In slices of arbitrary length, which must not affect results.
  bool more = true;
  for (std::int64_t t = 777'777; more; t += 7'777'777) {
    const auto remains = (*network)->run(Time::ps(t));
    if (!remains) ADD_FAILURE() << remains.error().text();
    more = remains && *remains;
  }
  EXPECT_EQ((*network)->find_deadlock(), "");
  std::uint64_t news = 0;
  for (std::uint32_t l = 0; l < topology->graph.link_count(); ++l)
    news += (*network)->link(LinkId(l)).news;
  return {replay.arrived(), (*network)->counts(), news};
}

std::vector<std::int64_t> simulate(const Scene& scene, const NetworkOptions& options,
                                   std::uint64_t* news_flits = nullptr) {
  const Outcome outcome = play(scene, options);
  if (news_flits != nullptr) *news_flits = outcome.news_flits;
  EXPECT_EQ(outcome.counts.packets_sent, outcome.counts.packets_delivered);
  return outcome.arrived;
}

// Each process knows what came to its own nodes.
std::vector<std::int64_t> simulate_among(int processes, const Scene& scene,
                                         const NetworkOptions& options) {
  const auto peers = make_local_group(processes);
  std::vector<Outcome> outcomes(peers.size());
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < peers.size(); ++p) {
    threads.emplace_back([&, p] {
      NetworkOptions own = options;
      own.peers = peers[p].get();
      outcomes[p] = play(scene, own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Outcome all = outcomes[0];
  for (std::size_t p = 1; p < peers.size(); ++p) {
    for (std::size_t j = 0; j < all.arrived.size(); ++j)
      all.arrived[j] = std::min(all.arrived[j], outcomes[p].arrived[j]);
    all.counts.packets_sent += outcomes[p].counts.packets_sent;
    all.counts.packets_delivered += outcomes[p].counts.packets_delivered;
  }
  EXPECT_EQ(all.counts.packets_sent, all.counts.packets_delivered);
  return all.arrived;
}

class EverySeed : public testing::TestWithParam<int> {};

TEST_P(EverySeed, FastModelIsTheSlowModel) {
  for (int i = 0; i < 10; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 10 + i);
    const Scene scene = random_scene(seed);
    SCOPED_TRACE("WEFT_SEED=" + std::to_string(seed) + " " + scene.topology + " " + scene.routing +
                 (scene.machine.commit ? " commit" : " free") +
                 (scene.machine.lookahead ? " ahead " : " serial ") +
                 to_text(scene.machine.arbitration) + " " + to_text(scene.machine.order) +
                 (scene.machine.output_buffer.count > 0 ? " buffered" : "") + " news " +
                 std::to_string(static_cast<int>(scene.machine.news.mode)));
    Result<Topology> topology = make_topology(scene.topology);
    ASSERT_TRUE(topology) << topology.error().text();
    auto policy = make_policy(scene.routing, *topology, scene.vcs);
    ASSERT_TRUE(policy) << policy.error().text();
    Oracle oracle(*topology, scene.machine, **policy, seed);
    const std::vector<std::int64_t> expected = oracle.run(scene.jobs);
    std::uint64_t flits = 0;
    // A network of this size would never have its buffers cut into blocks.
    const std::vector<std::int64_t> got =
        simulate(scene, {.seed = seed, .whole_rings = i % 2 == 0}, &flits);
    EXPECT_EQ(flits, oracle.news_flits());
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t j = 0; j < got.size(); ++j) {
      ASSERT_EQ(got[j], expected[j])
          << "job " << j << " of " << scene.jobs[j].from << " to " << scene.jobs[j].to;
    }
  }
}

TEST_P(EverySeed, WorkersAndWindowsDoNotShow) {
  const auto seed = static_cast<std::uint64_t>(1000 + GetParam());
  const Scene scene = random_scene(seed);
  SCOPED_TRACE("WEFT_SEED=" + std::to_string(seed) + " " + scene.topology + " " + scene.routing);
  const std::vector<std::int64_t> alone = simulate(scene, {.seed = seed});
  EXPECT_EQ(alone, simulate(scene, {.seed = seed, .workers = 2}));
  EXPECT_EQ(alone, simulate(scene, {.seed = seed, .workers = 4, .cut = Cut::ranges}));
  EXPECT_EQ(alone, simulate(scene, {.seed = seed, .workers = 3, .window = Duration::ps(700)}));
  EXPECT_EQ(alone, simulate(scene, {.seed = seed, .window = Duration::ps(333)}));
  EXPECT_EQ(alone, simulate(scene, {.seed = seed, .workers = 2, .whole_rings = false}));
}

TEST_P(EverySeed, ProcessesAsWorkersDoNotShow) {
  const auto seed = static_cast<std::uint64_t>(2000 + GetParam());
  const Scene scene = random_scene(seed);
  SCOPED_TRACE("WEFT_SEED=" + std::to_string(seed) + " " + scene.topology + " " + scene.routing);
  const std::vector<std::int64_t> alone = simulate(scene, {.seed = seed});
  EXPECT_EQ(alone, simulate_among(1, scene, {.seed = seed}));
  EXPECT_EQ(alone, simulate_among(2, scene, {.seed = seed}));
  EXPECT_EQ(alone, simulate_among(3, scene, {.seed = seed, .window = Duration::ps(700)}));
  EXPECT_EQ(alone, simulate_among(5, scene, {.seed = seed, .cut = Cut::ranges}));
}

INSTANTIATE_TEST_SUITE_P(Property, EverySeed, testing::Range(0, 25));

}  // namespace
}  // namespace weft::test
