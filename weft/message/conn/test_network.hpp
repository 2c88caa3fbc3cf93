// SPDX-License-Identifier: Apache-2.0
// For tests of one part of managed connections: one rank's network, which records what it is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <weft/message/conn/head.hpp>
#include <weft/message/conn/state.hpp>

namespace weft::conn {

class TestNetwork final : public Transport, public Connections, public Rails, public Processor {
 public:
  explicit TestNetwork(RankId self) : self_(self) {}
  Fabric fabric(std::uint32_t ranks) {
    return {.self = self_,
            .ranks = ranks,
            .transport = *this,
            .connections = *this,
            .rails = *this,
            .processor = *this};
  }

  struct Posted {
    RankId peer;
    Head head;
    std::size_t size = 0;
    std::uint64_t cookie = 0;
  };
  std::deque<Posted> posted;
  std::vector<RankId> connects, disconnects;

  void post(const SendPath& path, const FrameHead& head, Payload payload, bool,
            std::uint64_t cookie) override {
    posted.push_back({path.peer, decode(head), payload.size, cookie});
  }
  void write(const SendPath&, Payload, RemoteMemory, const FrameHead&, std::uint64_t) override {}
  bool take_back(RankId, std::uint64_t) override { return false; }
  std::uint64_t register_memory(RankId, std::byte*, std::size_t) override { return 1; }
  void deregister_memory(std::uint64_t) override {}
  bool poll(Completion&) override { return false; }
  void wait(Time) override {}
  void connect(RankId peer) override { connects.push_back(peer); }
  void disconnect(RankId peer) override { disconnects.push_back(peer); }
  bool connected(RankId) const override { return true; }
  bool needs_connection(RankId peer) const override { return peer != self_; }
  int rail_count(RankId) const override { return 1; }
  RailFacts rail_facts(RankId, RailId) const override { return {}; }
  void lower_rates(RankId, const std::byte*, std::span<double>) const override {}
  Time now() const override { return {}; }
  void copy(std::byte*, const std::byte*, std::size_t) override {}

 private:
  RankId self_;
};

// Rank 0 of nine ranks in three groups; connections to its neighbours are open.
struct TestRank {
  explicit TestRank(const Options& given = {})
      : options(given), state(network.fabric(9), layout, options) {}
  void open_neighbours() {
    for (const RankId peer : layout.neighbours_of(RankId(0))) {
      state.link(peer).state = Link::State::open;
    }
  }
  // The nth rank that is not a neighbour.
  RankId stranger(int n = 0) const {
    for (std::uint32_t r = 1; r < layout.ranks(); ++r) {
      if (!layout.neighbours(RankId(0), RankId(r)) && n-- == 0) return RankId(r);
    }
    return RankId(0);
  }

  Layout layout{{0, 0, 0, 1, 1, 1, 2, 2, 2}};
  Options options;
  TestNetwork network{RankId(0)};
  State state;
};

}  // namespace weft::conn
