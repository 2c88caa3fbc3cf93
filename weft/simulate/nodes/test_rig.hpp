// SPDX-License-Identifier: Apache-2.0
// A small simulated machine, and messages between its ranks.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mp/messenger.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

// Every rank runs the same function.
class Body final : public RankBody {
 public:
  using Files = std::function<void(FileOperation&)>;
  explicit Body(std::function<void(const Fabric&)> body, Files files = {})
      : body_(std::move(body)), files_(std::move(files)) {}
  void run(const Fabric& fabric) override { body_(fabric); }
  void access_file(FileOperation& operation) override { files_(operation); }

 private:
  std::function<void(const Fabric&)> body_;
  Files files_;
};

struct Rig {
  std::string net = "torus:4x4x4";
  std::string routing = "dor";
  std::uint32_t ranks = 64, ranks_per_node = 1;
  WorldSetup setup;
  Body::Files files;
  World* world_now = nullptr;  // While it runs.

  Rig() {
    setup.machine.vcs = 2;
    setup.machine.buffer = Bytes{4096};
    setup.machine.lookahead = true;
    setup.machine.link = {Rate::gbyte_per_s(8), Duration::ns(100), Duration::ns(100)};
    setup.carry_data = true;
  }
  // The time when the last rank (of this process) ended; negative when not all did.
  std::int64_t run(const std::function<void(const Fabric&)>& body) {
    const Topology topology = *make_topology(net);
    auto policy = make_policy(routing, topology, setup.machine.vcs);
    EXPECT_TRUE(policy) << policy.error().text();
    const std::uint32_t rails = static_cast<std::uint32_t>(setup.node.rails);
    auto placement = Placement::block(ranks, {topology.graph.node_count() / rails, ranks_per_node});
    EXPECT_TRUE(placement) << placement.error().text();
    setup.topology = &topology;
    setup.policy = policy->get();
    setup.placement = &*placement;
    Body program(body, files);
    auto world = World::make(setup, program);
    EXPECT_TRUE(world) << world.error().text();
    world_now = world->get();
    const auto more = (*world)->run(Time::never());
    world_now = nullptr;
    EXPECT_TRUE(more) << more.error().text();
    std::int64_t last = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      if (!(*world)->is_here(RankId(r))) {
        all.push_back(-1);
        waited.push_back(-1);
        in_mpi.push_back(-1);
        continue;
      }
      last = std::max(last, (*world)->counts(RankId(r)).ended.in_ps());
      all.push_back((*world)->counts(RankId(r)).ended.in_ps());
      waited.push_back((*world)->counts(RankId(r)).waited.in_ps());
      in_mpi.push_back((*world)->counts(RankId(r)).in_mpi.in_ps());
    }
    pairs = (*world)->pairs();
    return (*world)->ranks_open() == 0 ? last : -1;
  }
  std::vector<std::int64_t> all, waited, in_mpi;
  std::vector<PairCount> pairs;
};

inline void send(mp::Messenger& m, std::uint32_t to, const void* data, std::size_t size,
                 int tag = 0) {
  mp::Sending s;
  s.to = RankId(to);
  s.source = static_cast<int>(m.fabric().self.index);
  s.tag = tag;
  s.data = data;
  s.size = size;
  mp::Request* const request = m.send(s);
  m.wait(request);
  m.release(request);
}

inline mp::Arrival receive(mp::Messenger& m, int from, void* data, std::size_t size, int tag = 0) {
  mp::Receiving r;
  r.source = from;
  r.tag = tag;
  r.data = data;
  r.size = size;
  mp::Request* const request = m.receive(r);
  m.wait(request);
  const mp::Arrival arrival = request->arrival;
  m.release(request);
  return arrival;
}

}  // namespace weft
