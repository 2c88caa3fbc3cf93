// SPDX-License-Identifier: Apache-2.0
// The ranks of a local network, and what is under way between them. For this module alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/base/rng.hpp>
#include <weft/message/testnet/connections.hpp>
#include <weft/message/testnet/testnet.hpp>
#include <weft/parallel/fiber/fiber.hpp>

namespace weft::testnet {

class World;

// Ends the body of a rank that is lost.
struct Lost {};

struct Region {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

class TestnetRank final : public Transport,
                          public Connections,
                          public Rails,
                          public Processor,
                          public MessageObserver {
 public:
  TestnetRank(World& world, RankId self, std::uint32_t ranks);

  const Fabric& fabric() const { return fabric_; }
  RankId self() const { return self_; }

  int rail_count(RankId peer) const override;
  RailFacts rail_facts(RankId, RailId rail) const override {
    return {Rate::gbyte_per_s(1 + static_cast<std::int64_t>(rail.index)), Duration::us(1), true};
  }
  void lower_rates(RankId, const std::byte*, std::span<double>) const override {}
  Time now() const override;
  void connect(RankId peer) override;
  void disconnect(RankId peer) override;
  bool connected(RankId peer) const override;
  bool needs_connection(RankId peer) const override;
  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId, std::uint64_t) override { return false; }
  std::uint64_t register_memory(RankId, std::byte* data, std::size_t size) override {
    regions[++last_key_] = {data, size};
    return last_key_;
  }
  void deregister_memory(std::uint64_t key) override { regions.erase(key); }
  bool poll(Completion& out) override;
  void wait(Time until) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size) override {
    if (to != nullptr && from != nullptr && size > 0) std::memcpy(to, from, size);
  }
  void spend(Duration time) override { ahead_ += time; }
  void set_teller(const WaitTeller* one) override { teller = one; }

  std::deque<Completion> inbox;
  std::map<std::uint64_t, Region> regions;
  std::unique_ptr<Fiber> fiber;
  void* layer = nullptr;
  const WaitTeller* teller = nullptr;
  bool waits = false, lost = false;
  Time until;
  void tell(Completion::Kind kind, RankId peer);

 private:
  void check_way(RankId peer) const;

  World& world_;
  RankId self_;
  const Fabric fabric_;
  Duration ahead_;  // Time of its processor beyond the common clock.
  std::uint64_t last_key_ = 0;
};

struct Flying {
  Completion completion;
  // Where a write goes.
  RemoteMemory target;
};

// What is under way from one rank to another.
struct Lane {
  RankId from, to;
  std::deque<Flying> flying;
  bool listed = false;
};

class World {
 public:
  World(std::uint32_t count, const TestnetOptions& given,
        const std::function<void(const Fabric&)>& body)
      : options(given), connections(count), body_(body), random_(given.seed) {
    for (std::uint32_t i = 0; i < count; ++i) {
      ranks.push_back(std::make_unique<TestnetRank>(*this, RankId(i), count));
    }
  }

  Status run();
  void launch(RankId to, Completion&& completion, RemoteMemory target);
  void ask(RankId self, RankId peer);
  void disconnect(RankId self, RankId peer);

  bool mischief() { return chance(options.unsent_percent); }
  bool chance(int percent) { return percent > 0 && draw(100) < static_cast<std::size_t>(percent); }
  bool coin() { return draw(2) == 0; }

  const TestnetOptions& options;
  LocalConnectionTable connections;
  std::vector<std::unique_ptr<TestnetRank>> ranks;
  std::int64_t steps = 0;

 private:
  struct Start {
    World* world;
    TestnetRank* rank;
  };
  bool runnable(const TestnetRank& rank) const {
    if (rank.fiber->done()) return false;
    return rank.lost || !rank.waits || !rank.inbox.empty() || rank.until <= rank.now();
  }
  std::size_t draw(std::size_t below) { return random_.at(draws_++) % below; }
  Lane& lane(RankId from, RankId to) {
    Lane& one = lanes_[{from.index, to.index}];
    one.from = from;
    one.to = to;
    return one;
  }
  bool something_flies() const { return !busy_.empty() || !opening_.empty(); }
  void let_one_happen();
  void deliver_one();
  void open_one();
  void lose_due();
  void lose(RankId rank);
  bool step(std::vector<TestnetRank*>& able);
  void run_rank(TestnetRank& rank);
  Status stuck() const;

  const std::function<void(const Fabric&)>& body_;
  Rng random_;
  std::uint64_t draws_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Lane> lanes_;
  std::vector<Lane*> busy_;  // Those with something under way.
  std::vector<std::pair<RankId, RankId>> opening_;
  std::size_t losses_ = 0;
};

}  // namespace weft::testnet
