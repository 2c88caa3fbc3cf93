// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/base/rng.hpp>
#include <weft/fiber/fiber.hpp>
#include <weft/local/local.hpp>

namespace weft {

namespace {

class World;

struct Region {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

class LocalRank final : public Fabric {
 public:
  LocalRank(World& world, RankId self) : world_(world), self_(self) {}

  RankId self() const override { return self_; }
  std::uint32_t ranks() const override;
  int rails(RankId peer) const override;
  RailFacts rail(RankId, RailId rail) const override {
    return {Rate::gbyte_per_s(1 + static_cast<std::int64_t>(rail.index)), Duration::us(1), true};
  }
  bool ordered() const override;
  bool carries_data() const override;
  Time now() const override;
  void connect(RankId peer) override;
  void post(const Way& way, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const Way& way, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
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
  void enter_call() override {}
  void set_teller(const WaitTeller* one) override { teller = one; }

  std::deque<Completion> inbox;
  std::map<std::uint64_t, Region> regions;
  std::unique_ptr<Fiber> fiber;
  void* layer = nullptr;
  const WaitTeller* teller = nullptr;
  bool waits = false;
  Time until;

 private:
  World& world_;
  RankId self_;
  Duration ahead_;  // Of the common clock: what its processor has done.
  std::uint64_t last_key_ = 0;
};

struct Flying {
  RankId to;
  Completion completion;
  // Of a write: where it goes.
  RemoteMemory target;
};

class World {
 public:
  World(std::uint32_t count, const LocalOptions& given, const std::function<void(Fabric&)>& body)
      : options(given), body_(body), random_(given.seed) {
    for (std::uint32_t i = 0; i < count; ++i) {
      ranks.push_back(std::make_unique<LocalRank>(*this, RankId(i)));
    }
  }

  Status run();
  void launch(RankId to, Completion&& completion, RemoteMemory target) {
    if (options.frames != nullptr) ++*options.frames;
    if (options.bytes != nullptr) *options.bytes += completion.size;
    flying_.push_back({to, std::move(completion), target});
  }

  bool mischief() {
    return options.unsent_percent > 0 &&
           draw(100) < static_cast<std::size_t>(options.unsent_percent);
  }
  bool coin() { return draw(2) == 0; }

  const LocalOptions& options;
  std::vector<std::unique_ptr<LocalRank>> ranks;
  std::int64_t steps = 0;

 private:
  struct Start {
    World* world;
    LocalRank* rank;
  };
  bool runnable(const LocalRank& rank) const {
    if (rank.fiber->done()) return false;
    return !rank.waits || !rank.inbox.empty() || rank.until <= rank.now();
  }
  std::size_t draw(std::size_t below) { return random_.at(draws_++) % below; }
  void deliver_one();
  void run_rank(LocalRank& rank);
  Status stuck() const;

  const std::function<void(Fabric&)>& body_;
  Rng random_;
  std::uint64_t draws_ = 0;
  std::deque<Flying> flying_;
};

void World::deliver_one() {
  std::size_t chosen = draw(flying_.size());
  if (options.ordered) {
    // The oldest of its pair and rail.
    const auto same = [&](const Flying& f) {
      return f.to == flying_[chosen].to && f.completion.peer == flying_[chosen].completion.peer;
    };
    chosen = static_cast<std::size_t>(std::find_if(flying_.begin(), flying_.end(), same) -
                                      flying_.begin());
  }
  Flying flying = std::move(flying_[chosen]);
  flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(chosen));
  LocalRank& rank = *ranks[flying.to.index];
  Completion& c = flying.completion;
  if (c.kind == Completion::Kind::written && c.data != nullptr) {
    const auto found = rank.regions.find(flying.target.key);
    if (found == rank.regions.end()) {
      WEFT_CHECK(options.unsent_percent > 0);  // Only what came another way before may be late.
      return;
    }
    const Region& region = found->second;
    WEFT_CHECK(flying.target.offset + c.size <= region.size);
    std::memcpy(region.data + flying.target.offset, c.data.get(), c.size);
    c.data.reset();
  }
  rank.inbox.push_back(std::move(c));
  if (options.most_waiting != nullptr) {
    *options.most_waiting = std::max<std::uint64_t>(*options.most_waiting, rank.inbox.size());
  }
}

void World::run_rank(LocalRank& rank) {
  rank.waits = false;
  Current::set(&rank, rank.layer);
  rank.fiber->resume();
  rank.layer = Current::layer();
  Current::set(nullptr, nullptr);
}

Status World::stuck() const {
  std::string text = "nothing can move:";
  for (const auto& rank : ranks) {
    if (rank->fiber->done()) continue;
    text += " rank " + std::to_string(rank->self().index);
    if (rank->teller != nullptr) {
      const Waiting w = rank->teller->waiting();
      text += " in " + w.call + " waits for " + w.what;
    } else {
      text += " waits";
    }
    text += ";";
  }
  return Error::run(text);
}

Status World::run() {
  auto stacks = Stacks::make(static_cast<std::uint32_t>(ranks.size()), options.stack_bytes);
  if (!stacks) return std::move(stacks).error();
  std::vector<Start> starts;
  starts.reserve(ranks.size());
  for (const auto& rank : ranks) {
    starts.push_back({this, rank.get()});
    rank->fiber = std::make_unique<Fiber>((*stacks)->low(rank->self().index), (*stacks)->size(),
                                          [](void* argument) {
                                            const auto& start = *static_cast<Start*>(argument);
                                            start.world->body_(*start.rank);
                                          },
                                          &starts.back());
  }
  for (;;) {
    ++steps;
    std::vector<LocalRank*> able;
    bool all_done = true;
    for (const auto& rank : ranks) {
      all_done = all_done && rank->fiber->done();
      if (runnable(*rank)) able.push_back(rank.get());
    }
    if (all_done) return {};
    if (!flying_.empty() && (able.empty() || draw(2) == 0)) {
      deliver_one();
    } else if (!able.empty()) {
      run_rank(*able[draw(able.size())]);
    } else {
      const auto timed = std::find_if(ranks.begin(), ranks.end(), [](const auto& rank) {
        return !rank->fiber->done() && rank->until < Time::never();
      });
      if (timed == ranks.end()) return stuck();
      steps = std::max(steps, (*timed)->until.in_ps());
    }
  }
}

std::uint32_t LocalRank::ranks() const {
  return static_cast<std::uint32_t>(world_.ranks.size());
}
int LocalRank::rails(RankId) const {
  return world_.options.rails;
}
bool LocalRank::ordered() const {
  return world_.options.ordered;
}
bool LocalRank::carries_data() const {
  return world_.options.carries_data;
}
Time LocalRank::now() const {
  return Time::ps(world_.steps) + ahead_;
}

void LocalRank::connect(RankId peer) {
  for (int i = 0; i < rails(peer); ++i) {
    Completion up;
    up.kind = Completion::Kind::rail_up;
    up.peer = peer;
    up.rail = RailId(static_cast<std::uint32_t>(i));
    inbox.push_back(std::move(up));
  }
}

std::unique_ptr<std::byte[]> captured(Payload payload) {
  if (payload.data == nullptr || payload.size == 0) return nullptr;
  auto data = std::make_unique<std::byte[]>(payload.size);
  std::memcpy(data.get(), payload.data, payload.size);
  return data;
}

void LocalRank::post(const Way& way, const FrameHead& head, Payload payload, bool /*stable*/,
                     std::uint64_t cookie) {
  WEFT_CHECK(way.peer.index < ranks() && static_cast<int>(way.rail.index) < rails(way.peer));
  Completion c;
  c.kind = Completion::Kind::frame;
  c.peer = self_;
  c.rail = way.rail;
  c.size = payload.size;
  c.head = head;
  c.data = captured(payload);
  world_.launch(way.peer, std::move(c), {});
  if (cookie == 0) return;
  Completion sent;
  sent.kind = Completion::Kind::sent;
  sent.peer = way.peer;
  sent.cookie = cookie;
  inbox.push_back(std::move(sent));
}

void LocalRank::write(const Way& way, Payload payload, RemoteMemory target, const FrameHead& notice,
                      std::uint64_t cookie) {
  Completion c;
  c.kind = Completion::Kind::written;
  c.peer = self_;
  c.rail = way.rail;
  c.size = payload.size;
  c.head = notice;
  c.data = captured(payload);
  const bool unsent = world_.mischief();
  if (!unsent || world_.coin()) world_.launch(way.peer, std::move(c), target);
  Completion sent;
  sent.kind = unsent ? Completion::Kind::unsent : Completion::Kind::sent;
  sent.peer = way.peer;
  sent.rail = way.rail;
  sent.cookie = cookie;
  inbox.push_back(std::move(sent));
}

bool LocalRank::poll(Completion& out) {
  if (inbox.empty()) return false;
  out = std::move(inbox.front());
  inbox.pop_front();
  return true;
}

void LocalRank::wait(Time at) {
  waits = true;
  until = at;
  fiber->pause();
}

}  // namespace

Status run_local(std::uint32_t ranks, const LocalOptions& options,
                 const std::function<void(Fabric&)>& body) {
  World world(ranks, options, body);
  return world.run();
}

}  // namespace weft
