// SPDX-License-Identifier: Apache-2.0
// One world in several processes (here: threads that share nothing but their peers).
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/parallel/processes/local.hpp>
#include <weft/simulate/nodes/test_rig.hpp>

namespace weft {
namespace {

// Everyone sends to several others, near and far, by copies and by remote writes, and checks what
// came.
void exchange_all(const Fabric& fabric) {
  const mp::Options options;
  mp::Messenger m(fabric, options);
  const std::uint32_t n = fabric.ranks, self = fabric.self.index;
  for (const std::uint32_t shift : {1u, 5u, 31u, n - 1}) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{12}, std::size_t{3000}, std::size_t{40'000}}) {
      std::vector<std::byte> out(size, static_cast<std::byte>(self + shift)), in(size);
      mp::Receiving r;
      r.source = static_cast<int>((self + n - shift) % n);
      r.tag = static_cast<int>(shift);
      r.data = in.data();
      r.size = size;
      mp::Request* const receiving = m.receive(r);
      send(m, (self + shift) % n, out.data(), size, static_cast<int>(shift));
      m.wait(receiving);
      m.release(receiving);
      const std::vector<std::byte> expected(size,
                                            static_cast<std::byte>((self + n - shift) % n + shift));
      EXPECT_EQ(in, expected);
    }
  }
}

struct Outcome {
  std::vector<std::int64_t> ended, waited;
  std::vector<PairCount> pairs;
};

Outcome play(int processes, const Rig& model) {
  const auto peers = make_local_group(processes);
  std::vector<Rig> rigs(peers.size(), model);
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < peers.size(); ++p) {
    threads.emplace_back([&, p] {
      rigs[p].setup.peers = peers[p].get();
      EXPECT_GE(rigs[p].run(exchange_all), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Outcome outcome{rigs[0].all, rigs[0].waited, rigs[0].pairs};
  for (std::size_t p = 1; p < rigs.size(); ++p) {
    for (std::size_t r = 0; r < outcome.ended.size(); ++r) {
      EXPECT_TRUE(outcome.ended[r] < 0 || rigs[p].all[r] < 0) << "rank " << r << " ran twice";
      outcome.ended[r] = std::max(outcome.ended[r], rigs[p].all[r]);
      outcome.waited[r] = std::max(outcome.waited[r], rigs[p].waited[r]);
    }
    outcome.pairs.insert(outcome.pairs.end(), rigs[p].pairs.begin(), rigs[p].pairs.end());
  }
  std::sort(outcome.pairs.begin(), outcome.pairs.end(), [](const PairCount& a, const PairCount& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  return outcome;
}

void expect_the_same_for_any_number(const Rig& rig) {
  const Outcome alone = play(1, rig);
  for (const int processes : {2, 3, 5}) {
    const Outcome outcome = play(processes, rig);
    EXPECT_EQ(outcome.ended, alone.ended) << processes;
    EXPECT_EQ(outcome.waited, alone.waited) << processes;
    ASSERT_EQ(outcome.pairs.size(), alone.pairs.size()) << processes;
    for (std::size_t i = 0; i < outcome.pairs.size(); ++i)
      EXPECT_EQ(outcome.pairs[i].bytes, alone.pairs[i].bytes);
  }
}

TEST(ProcessesAsWorkers, GiveTheSameTimesAndData) {
  Rig rig;
  rig.setup.count_pairs = true;
  expect_the_same_for_any_number(rig);
}

TEST(ProcessesAsWorkers, GiveTheSameWithSeveralRanksAndCardsPerNode) {
  Rig rig;
  rig.net = "fattree:k=4,levels=3";
  rig.routing = "up-down";
  rig.setup.machine.vcs = 1;
  rig.ranks = 32;
  rig.ranks_per_node = 4;
  rig.setup.node.rails = 2;
  expect_the_same_for_any_number(rig);
}

TEST(ProcessesAsWorkers, GiveTheSameWithCardsAtSeveralRouters) {
  for (const char* const net : {"torus:4x4,planes=2", "torus:4x4,p=2,rails=2"}) {
    Rig rig;
    rig.net = net;
    rig.ranks = 32;
    rig.ranks_per_node = 2;
    rig.setup.node.rails = 2;
    rig.setup.node.sockets = 2;
    rig.setup.node.far_latency = Duration::ns(120);
    rig.setup.count_pairs = true;
    expect_the_same_for_any_number(rig);
  }
}

TEST(ProcessesAsWorkers, StopTogether) {
  Rig rig;
  rig.setup.carry_data = false;
  const Topology topology = *make_topology(rig.net);
  const auto policy = make_policy(rig.routing, topology, rig.setup.machine.vcs);
  const auto placement = Placement::block(rig.ranks, {topology.graph.node_count(), 1});
  rig.setup.topology = &topology;
  rig.setup.policy = policy->get();
  rig.setup.placement = &*placement;
  const auto run = [&](int processes) {
    std::vector<std::int64_t> spent(rig.ranks);
    const auto peers = make_local_group(processes);
    std::vector<std::thread> threads;
    for (const auto& peer : peers) {
      threads.emplace_back([&] {
        WorldSetup setup = rig.setup;
        setup.peers = peer.get();
        World* all = nullptr;
        Body program([&](const Fabric& fabric) {
          for (;;) {
            fabric.processor.spend(Duration::ns(100));
            fabric.transport.wait(fabric.processor.now() + Duration::ns(10));
            spent[fabric.self.index] = fabric.processor.now().in_ps();
            if (fabric.self.index == 13 &&
                fabric.processor.now() > Time::zero() + Duration::us(20)) {
              all->stop(fabric.self, fabric.processor.now());
              World::end_current();
            }
          }
        });
        auto world = World::make(setup, program);
        all = world->get();
        EXPECT_TRUE((*world)->run(Time::never()));
        EXPECT_LT((*world)->stopped_at(), Time::never());
      });
    }
    for (std::thread& thread : threads) thread.join();
    return spent;
  };
  const std::vector<std::int64_t> alone = run(1);
  EXPECT_EQ(run(2), alone);
  EXPECT_EQ(run(4), alone);
}

}  // namespace
}  // namespace weft
