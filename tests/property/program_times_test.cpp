// SPDX-License-Identifier: Apache-2.0
// How long MPI calls take on an idle network, worked out by hand: overheads, copies and flights add
// up to the picosecond.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/coll/choose.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/test_job.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/machine/profiles.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {
namespace {

class Body final : public RankBody {
 public:
  Body(std::function<void(int)> body, const mp::Options& options, const coll::Choices& choices)
      : body_(std::move(body)), options_(options), choices_(choices) {}
  void run(const Fabric& fabric) override {
    mpi::Process process(fabric, options_, runtime_);
    process.choices = &choices_;
    Current::set(&fabric, &process);
    MPI_Init(nullptr, nullptr);
    body_(static_cast<int>(fabric.self.index));
    fabric.processor.spend(
        Duration::ms(10));  // Whoever is done early leaves the network to the others.
    MPI_Finalize();
    Current::set(&fabric, nullptr);
  }

 private:
  std::function<void(int)> body_;
  const mp::Options& options_;
  const coll::Choices& choices_;
  mpi::TestRuntime runtime_{1};
};

// Everyone is one hop from everyone, over a cable of their own.
struct Idle {
  NetworkHardware machine = (*find_profile("nsim"))->defaults().hardware;
  NodeModel node;
  mp::Options options;
  coll::Choices choices;
  int ranks = 8;

  Duration copy(std::int64_t size) const { return serialise(Bytes{size}, node.memory_rate); }
  Duration flight(std::int64_t size) const {
    const NetworkHardware& m = machine;
    const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
    const std::int64_t before = size == 0 ? 0 : (size - 1) / m.mtu.count * m.mtu.count;
    const std::int64_t rest = std::max<std::int64_t>(size - before - m.flit.count, 0);
    return m.inject_delay + m.node_link.delay * 2 + router * 2 + m.link.delay +
           serialise(Bytes{before}, m.link.rate) + serialise(Bytes{rest}, m.link.rate) +
           m.eject_delay;
  }
  // What the slowest rank measures from a common start. Flows and flits take as long, but for the
  // flit that every message ends with at least, and the cycle in which flits begin.
  Duration run(const std::function<void(int)>& body) {
    const Duration packets = run(body, Fidelity::packet), flows = run(body, Fidelity::flow),
                   flits = run(body, Fidelity::flit);
    EXPECT_NEAR(flows.in_ns(), packets.in_ns(), 0.001 * packets.in_ns() + 8) << "flows";
    EXPECT_NEAR(flits.in_ns(), packets.in_ns(), 0.001 * packets.in_ns() + 8) << "flits";
    return packets;
  }
  Duration run(const std::function<void(int)>& body, Fidelity model) {
    const Topology topology = *make_topology("complete:" + std::to_string(ranks));
    auto policy = make_policy("minimal", topology, machine.vcs);
    EXPECT_TRUE(policy) << policy.error().text();
    const auto placement =
        Placement::block(static_cast<std::uint32_t>(ranks), {topology.graph.node_count(), 1});
    WorldSetup setup;
    setup.topology = &topology;
    setup.policy = policy->get();
    setup.machine = machine;
    setup.model.fidelity = model;
    setup.node = node;
    setup.placement = &*placement;
    std::vector<Time> ends(static_cast<std::size_t>(ranks));
    Body program(
        [&](int rank) {
          EXPECT_EQ(Current::fabric()->processor.now(), Time::zero());
          body(rank);
          ends[static_cast<std::size_t>(rank)] = Current::fabric()->processor.now();
        },
        options, choices);
    auto world = World::make(setup, program);
    EXPECT_TRUE(world) << world.error().text();
    EXPECT_TRUE((*world)->run(Time::never()));
    EXPECT_EQ((*world)->ranks_open(), 0u);
    return *std::max_element(ends.begin(), ends.end()) - Time::zero();
  }
};

TEST(ProgramTimes, PingPong) {
  for (const int size : {0, 1, 8, 256, 257, 5000, 16384, 16385, 1'000'000}) {
    Idle idle;
    std::vector<char> data(static_cast<std::size_t>(size) + 1);
    const Duration measured = idle.run([&](int rank) {
      if (rank == 0) {
        MPI_Send(data.data(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data.data(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank == 1) {
        MPI_Recv(data.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
      }
    });
    const Duration o = idle.node.call_overhead;
    // Eager: copied on both sides. Rendezvous: request and answer fly first.
    const Duration one_way = size <= idle.options.eager_limit.count
                                 ? o + idle.copy(size) * 2 + idle.flight(size)
                                 : o + idle.flight(0) * 2 + idle.flight(size);
    EXPECT_EQ(measured.in_ps(), (one_way * 2).in_ps()) << size;
  }
}

TEST(ProgramTimes, Barrier) {
  Idle idle;
  ASSERT_TRUE(idle.choices.force("barrier=dissemination"));
  const Duration measured = idle.run([](int) { MPI_Barrier(MPI_COMM_WORLD); });
  EXPECT_EQ(measured.in_ps(), (idle.node.call_overhead + idle.flight(0) * 3).in_ps());
}

TEST(ProgramTimes, BroadcastDownABinomialTree) {
  for (const int size : {8, 1000, 16000}) {
    Idle idle;
    ASSERT_TRUE(idle.choices.force("bcast=binomial"));
    std::vector<char> data(static_cast<std::size_t>(size));
    const Duration measured =
        idle.run([&](int) { MPI_Bcast(data.data(), size, MPI_BYTE, 0, MPI_COMM_WORLD); });
    const Duration step = idle.copy(size) * 2 + idle.flight(size);
    EXPECT_EQ(measured.in_ps(), (idle.node.call_overhead + step * 3).in_ps()) << size;
  }
}

// Each round: out, flight, in, and the reduction itself costs a pass over the data. Three rounds
// end in the wrong one of two buffers.
TEST(ProgramTimes, AllreduceByRecursiveDoubling) {
  for (const int count : {1, 100, 1500}) {
    Idle idle;
    ASSERT_TRUE(idle.choices.force("allreduce=recursive-doubling"));
    std::vector<double> in(static_cast<std::size_t>(count)), out(static_cast<std::size_t>(count));
    const Duration measured = idle.run([&](int) {
      MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    });
    const Duration c = idle.copy(8 * count);
    const Duration round = c * 3 + idle.flight(8 * count);
    EXPECT_EQ(measured.in_ps(), (idle.node.call_overhead + round * 3 + c).in_ps()) << count;
  }
}

TEST(ProgramTimes, AllgatherRoundARing) {
  for (const int size : {8, 300, 10'000}) {
    Idle idle;
    ASSERT_TRUE(idle.choices.force("allgather=ring"));
    std::vector<char> in(static_cast<std::size_t>(size)), out(static_cast<std::size_t>(size) * 8);
    const Duration measured = idle.run([&](int) {
      MPI_Allgather(in.data(), size, MPI_BYTE, out.data(), size, MPI_BYTE, MPI_COMM_WORLD);
    });
    const Duration step = idle.copy(size) * 2 + idle.flight(size);
    const Duration expected = idle.node.call_overhead + idle.copy(size) + step * 7;
    EXPECT_EQ(measured.in_ps(), expected.in_ps()) << size;
  }
}

// Three rounds with half of the blocks; they are gathered before and spread after each.
TEST(ProgramTimes, AlltoallByBruck) {
  for (const int block : {4, 100, 1000}) {
    Idle idle;
    ASSERT_TRUE(idle.choices.force("alltoall=bruck"));
    std::vector<char> in(static_cast<std::size_t>(block) * 8), out(in.size());
    const Duration measured = idle.run([&](int) {
      MPI_Alltoall(in.data(), block, MPI_BYTE, out.data(), block, MPI_BYTE, MPI_COMM_WORLD);
    });
    const Duration round = idle.copy(4 * block) * 4 + idle.flight(4 * block);
    const Duration expected = idle.node.call_overhead + idle.copy(8 * block) * 2 + round * 3;
    EXPECT_EQ(measured.in_ps(), expected.in_ps()) << block;
  }
}

}  // namespace
}  // namespace weft
