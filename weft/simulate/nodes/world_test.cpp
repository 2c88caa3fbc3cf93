// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/nodes/test_rig.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {
namespace {

// The head through every stage on the way, behind the packets before it, then the rest of the last.
Duration flight(const NetworkHardware& m, int hops, std::int64_t size) {
  const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
  const Duration head =
      m.inject_delay + m.node_link.delay * 2 + router * (hops + 1) + m.link.delay * hops;
  const std::int64_t before = size == 0 ? 0 : (size - 1) / m.mtu.count * m.mtu.count;
  const std::int64_t rest = std::max<std::int64_t>(size - before - m.flit.count, 0);
  return head + serialise(Bytes{before}, m.link.rate) + serialise(Bytes{rest}, m.link.rate) +
         m.eject_delay;
}

// One-copy eager: copy, flight, copy. Rendezvous: request, ready, and the data without copies.
TEST(PingPong, TakesTheSumOfItsParts) {
  for (const std::int64_t size : {4, 1000, 16384, 16385, 100'000}) {
    Rig rig;
    rig.net = "mesh:4";
    rig.ranks = 4;
    rig.setup.machine.vcs = 1;
    const mp::Options options;
    const bool eager = size <= options.eager_limit.count;
    const std::int64_t took = rig.run([&](const Fabric& fabric) {
      mp::Messenger m(fabric, options);
      std::vector<std::byte> data(static_cast<std::size_t>(size));
      if (fabric.self.index == 0) send(m, 2, data.data(), data.size());
      if (fabric.self.index == 2) receive(m, 0, data.data(), data.size());
    });
    const NetworkHardware& machine = rig.setup.machine;
    const Duration copy = serialise(Bytes{size}, rig.setup.node.memory_rate);
    const Duration expected = eager ? copy * 2 + flight(machine, 2, size)
                                    : flight(machine, 2, 0) * 2 + flight(machine, 2, size);
    EXPECT_EQ(rig.all[2], expected.in_ps()) << size;
    EXPECT_EQ(took, expected.in_ps());
  }
}

TEST(Ranks, SpendTheirTime) {
  Rig rig;
  rig.net = "mesh:2";
  rig.ranks = 2;
  rig.setup.machine.vcs = 1;
  rig.run([&](const Fabric& fabric) {
    EXPECT_EQ(fabric.processor.now(), Time::zero());
    fabric.processor.spend(Duration::us(3));
    EXPECT_EQ(fabric.processor.now(), Time::zero() + Duration::us(3));
    fabric.processor.enter_call();
    fabric.transport.wait(Time::zero() + Duration::us(10));
    EXPECT_EQ(fabric.processor.now(), Time::zero() + Duration::us(10));
  });
  EXPECT_EQ(rig.waited[0], Duration::us(10).in_ps() - Duration::us(3).in_ps() -
                               rig.setup.node.call_overhead.in_ps());
  // What the program computes is not the library's.
  EXPECT_EQ(rig.in_mpi[0], (rig.setup.node.call_overhead + rig.setup.node.wake_time).in_ps());
}

// Random partners and sizes: every rank's end, to the picosecond, whichever worker simulates it.
TEST(Workers, DoNotChangeWhatHappens) {
  std::vector<std::vector<std::int64_t>> ends;
  for (const auto& [workers, data] : {std::pair{1, true}, {2, true}, {3, false}, {1, false}}) {
    Rig rig;
    rig.setup.workers = workers;
    rig.setup.carry_data = data;
    rig.ranks = 128;
    rig.ranks_per_node = 2;
    const mp::Options options;
    const std::int64_t took = rig.run([&](const Fabric& fabric) {
      mp::Messenger m(fabric, options);
      const std::uint32_t me = fabric.self.index;
      for (std::uint32_t round = 1; round < 12; ++round) {
        const std::uint32_t to = me ^ (round * 11 % 128);
        const std::size_t size = (round * 7919) % 40'000;
        std::vector<std::uint32_t> out(size / 4 + 1, me * 1000 + round), in(size / 4 + 1);
        mp::Receiving r;
        r.source = static_cast<int>(to);
        r.data = in.data();
        r.size = size;
        mp::Request* const request = m.receive(r);
        send(m, to, out.data(), size);
        m.wait(request);
        m.release(request);
        if (size >= 4 && fabric.carries_data) {
          EXPECT_EQ(in[0], to * 1000 + round);
          EXPECT_EQ(in[size / 4 - 1], to * 1000 + round);
        }
      }
    });
    EXPECT_GT(took, 0);
    ends.push_back(rig.all);
  }
  for (const auto& other : ends) EXPECT_EQ(other, ends[0]);
}

TEST(Pairs, AreCounted) {
  Rig rig;
  rig.net = "mesh:4";
  rig.ranks = 4;
  rig.setup.machine.vcs = 1;
  rig.setup.count_pairs = true;
  const mp::Options options;
  rig.run([&](const Fabric& fabric) {
    mp::Messenger m(fabric, options);
    std::vector<std::byte> data(50'000);
    if (fabric.self.index == 3) {
      send(m, 0, data.data(), 10);
      send(m, 0, data.data(), 50'000);
    } else if (fabric.self.index == 0) {
      receive(m, 3, data.data(), 10);
      receive(m, 3, data.data(), 50'000);
    }
  });
  ASSERT_EQ(rig.pairs.size(), 1u);
  EXPECT_EQ(rig.pairs[0].from, RankId(3));
  EXPECT_EQ(rig.pairs[0].messages, 2u);
  EXPECT_EQ(rig.pairs[0].bytes, 50'010u);
}

TEST(Waiting, WithoutEndLeavesRanksOpen) {
  Rig rig;
  rig.net = "mesh:2";
  rig.ranks = 2;
  rig.setup.machine.vcs = 1;
  EXPECT_EQ(rig.run([&](const Fabric& fabric) { fabric.transport.wait(Time::never()); }), -1);
}

TEST(Maps, NameWhatIsWrong) {
  const Topology topology = *make_topology("mesh:2x2");
  const auto read = [&](const std::string& text) {
    const std::string path = test_file("some.map");
    EXPECT_TRUE(write_file(path, text));
    auto map = Placement::read_file(path, 3, {4, 1}, topology);
    return map ? std::string("fine") : map.error().text().substr(path.size());
  };
  EXPECT_EQ(read("# rank node\n0 3\n1 1,0\n2 (0,0)\n"), "fine");
  EXPECT_EQ(read("0 3\n1 1\n"), ": rank 2 of 3 is missing");
  EXPECT_NE(read("0 3\n0 1\n").find(":2: rank 0 stands on line 1 already"), std::string::npos);
  EXPECT_NE(read("0 4\n").find(":1: node 4 is outside of 0 to 3"), std::string::npos);
  EXPECT_NE(read("3 0\n").find(":1: rank 3 is outside of 0 to 2"), std::string::npos);
  EXPECT_NE(read("0 1\n1 1\n").find(":2: node 1 has room for 1 only"), std::string::npos);
  EXPECT_NE(read("0 1 2\n").find(":1: a record is a rank and a node"), std::string::npos);
  EXPECT_NE(read("0 9,9\n").find(":1: '9,9'"), std::string::npos);
}

// Where the system cannot guard all stacks, an overflow is seen when the rank waits or ends.
TEST(World, NamesARankThatWroteBelowItsStack) {
  Rig rig;
  rig.setup.guard_stacks = false;
  rig.setup.stack_bytes = 65536;
  const Topology topology = *make_topology(rig.net);
  const auto policy = make_policy(rig.routing, topology, rig.setup.machine.vcs);
  const auto placement = Placement::block(rig.ranks, {topology.graph.node_count(), 1});
  rig.setup.topology = &topology;
  rig.setup.policy = policy->get();
  rig.setup.placement = &*placement;
  Body program([](const Fabric& fabric) {
    if (fabric.self.index != 7) return;
    volatile char large[70'000];
    for (std::size_t i = 0; i < sizeof large; i += 8) large[i] = 1;
  });
  auto world = World::make(rig.setup, program);
  ASSERT_TRUE(world);
  const auto more = (*world)->run(Time::never());
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().message(),
            "rank 7 overflowed its stack of 64 KiB; give more with --stack");
}

}  // namespace
}  // namespace weft
