// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/message/mp/covered.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/trunk.hpp>

namespace weft::mp {
namespace {

TEST(Covered, CountsEveryByteOnce) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Rng random(seed);
    Covered covered;
    std::vector<bool> known(500);
    for (std::uint64_t i = 0; i < 60; ++i) {
      const std::size_t begin = random.at(2 * i) % known.size();
      const std::size_t size = random.at(2 * i + 1) % (known.size() - begin) + 1;
      std::size_t fresh = 0;
      for (std::size_t b = begin; b < begin + size; ++b) {
        fresh += known[b] ? 0 : 1;
        known[b] = true;
      }
      EXPECT_EQ(covered.add(begin, size), fresh) << "seed " << seed;
    }
  }
}

// Rails that carry bytes at rates which may change, in virtual time.
class TestRails final : public Transport, public Connections, public Rails, public Processor {
 public:
  struct Rail {
    double rate = 0;  // Bytes per second; 0: it carries nothing and says nothing.
    bool up = true;
    struct Part {
      std::uint64_t cookie;
      double left;
      std::size_t offset, size;
      bool taken_back = false;
    };
    std::deque<Part> queue;
    std::uint64_t carried = 0;
    bool fresh = true;  // Nothing of the first part has left.
    Duration latency = Duration::us(20);
  };
  explicit TestRails(std::vector<double> rates) {
    for (const double rate : rates) rails_.emplace_back().rate = rate;
  }

  Rail& operator[](std::size_t i) { return rails_[i]; }
  std::deque<Completion> told;

  void down(std::size_t i) {
    rails_[i].up = false;
    for (const Rail::Part& part : rails_[i].queue) {
      if (!part.taken_back) tell(Completion::Kind::unsent, i, part.cookie);
    }
    rails_[i].queue.clear();
    tell(Completion::Kind::rail_down, i, 0);
  }
  void up(std::size_t i) {
    rails_[i].up = true;
    tell(Completion::Kind::rail_up, i, 0);
  }
  // Lets time pass.
  void pass(Duration step) {
    now_ = now_ + step;
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      Rail& rail = rails_[i];
      double room = rail.rate * step.in_seconds();
      while (rail.up && !rail.queue.empty() && room > 0) {
        Rail::Part& part = rail.queue.front();
        const double moved = std::min(room, part.left);
        room -= moved;
        part.left -= moved;
        rail.fresh = false;
        if (part.left > 0) break;
        rail.carried += part.size;
        landed_.emplace_back(part.offset, part.size);
        if (!part.taken_back) tell(Completion::Kind::sent, i, part.cookie);
        rail.queue.pop_front();
        rail.fresh = true;
      }
    }
  }
  const std::vector<std::pair<std::size_t, std::size_t>>& landed() const { return landed_; }
  std::vector<double> far;  // What each rail delivers less of the messages to come.

  Fabric fabric() {
    return {.self = RankId(0),
            .ranks = 2,
            .transport = *this,
            .connections = *this,
            .rails = *this,
            .processor = *this};
  }
  int rail_count(RankId) const override { return static_cast<int>(rails_.size()); }
  RailFacts rail_facts(RankId, RailId rail) const override {
    const Rail& one = rails_[rail.index];
    return {Rate::gbit_per_s(10), one.latency, one.up};
  }
  void lower_rates(RankId, const std::byte*, std::span<double> rates) const override {
    for (std::size_t i = 0; i < rates.size() && i < far.size(); ++i) rates[i] *= far[i];
  }
  Time now() const override { return now_; }
  void connect(RankId) override {}
  void disconnect(RankId) override {}
  bool connected(RankId) const override { return true; }
  bool needs_connection(RankId peer) const override { return peer != RankId(0); }
  void post(const SendPath& path, const FrameHead&, Payload payload, bool,
            std::uint64_t cookie) override {
    rails_[path.rail.index].queue.push_back(
        {cookie, static_cast<double>(payload.size), 0, payload.size});
    frames_.insert(cookie);
  }
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead&,
             std::uint64_t cookie) override {
    ASSERT_TRUE(rails_[path.rail.index].up);
    rails_[path.rail.index].queue.push_back(
        {cookie, static_cast<double>(payload.size), target.offset, payload.size});
  }
  bool take_back(RankId, std::uint64_t cookie) override {
    EXPECT_FALSE(frames_.contains(cookie)) << "its data may be gone";
    for (Rail& rail : rails_) {
      for (std::size_t i = 0; i < rail.queue.size(); ++i) {
        if (rail.queue[i].cookie != cookie || rail.queue[i].taken_back) continue;
        if (i == 0 && !rail.fresh) return false;
        rail.queue[i].taken_back = true;  // It may still arrive.
        return true;
      }
    }
    return false;
  }
  std::uint64_t register_memory(RankId, std::byte*, std::size_t) override { return 1; }
  void deregister_memory(std::uint64_t) override {}
  bool poll(Completion&) override { return false; }
  void wait(Time) override {}
  void copy(std::byte*, const std::byte*, std::size_t) override {}

 private:
  void tell(Completion::Kind kind, std::size_t rail, std::uint64_t cookie) {
    Completion completion;
    completion.kind = kind;
    completion.peer = RankId(1);
    completion.rail = RailId(static_cast<std::uint32_t>(rail));
    completion.cookie = cookie;
    told.push_back(std::move(completion));
  }
  Time now_;
  std::vector<Rail> rails_;
  std::set<std::uint64_t> frames_;
  std::vector<std::pair<std::size_t, std::size_t>> landed_;
};

class Bench {
 public:
  explicit Bench(std::vector<double> rates)
      : rails(std::move(rates)), trunk(rails.fabric(), options) {}

  bool begin(std::size_t size, bool frames = false) {
    Trunk::Load load;
    load.frames = frames;
    load.id = ++last_;
    load.peer = RankId(1);
    load.data = {memory_.data(), size};
    open.insert(load.id);
    const bool given = trunk.begin(load);
    if (given && frames) open.erase(load.id);
    return given;
  }
  void step(Duration time) {
    rails.pass(time);
    while (!rails.told.empty()) {
      const Completion told = std::move(rails.told.front());
      rails.told.pop_front();
      switch (told.kind) {
        case Completion::Kind::sent:
          if (const std::uint64_t id = trunk.delivered(told.cookie)) {
            EXPECT_EQ(open.erase(id), 1u);
          }
          break;
        case Completion::Kind::unsent:
          trunk.returned(told.cookie);
          break;
        default:
          trunk.rail_changed(told.peer, told.rail);
      }
    }
    trunk.tend(rails.now());
  }
  // The time that messages of this size take, with `in_flight` at once.
  Duration stream(std::size_t size, int count, std::size_t in_flight) {
    const Time start = rails.now();
    while (count > 0 || !open.empty()) {
      while (count > 0 && open.size() < in_flight) {
        begin(size);
        --count;
      }
      step(Duration::us(20));
      EXPECT_LT(rails.now() - start, Duration::ms(100'000));
      if (rails.now() - start >= Duration::ms(100'000)) break;
    }
    return rails.now() - start;
  }
  double share(std::size_t size, int count, std::size_t in_flight, double sum_of_rates) {
    const double ideal = static_cast<double>(size) * count / sum_of_rates;
    return ideal / stream(size, count, in_flight).in_seconds();
  }

  Options options{.split = Split::measured};
  TestRails rails;
  Trunk trunk;
  std::set<std::uint64_t> open;

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(8 << 20);
  std::uint64_t last_ = 0;
};

TEST(Trunk, EqualRailsAddUp) {
  for (const std::size_t rails : {1u, 2u, 4u}) {
    Bench bench(std::vector<double>(rails, 120e6));
    EXPECT_GT(bench.share(4 << 20, 100, 4, 120e6 * static_cast<double>(rails)), 0.97);
  }
}

TEST(Trunk, UnequalRailsAddUpWithoutBeingTold) {
  Bench bench({120e6, 30e6});
  bench.stream(1 << 20, 20, 4);  // To know them.
  EXPECT_GT(bench.share(1 << 20, 200, 4, 150e6), 0.96);
  EXPECT_GT(bench.share(1 << 20, 100, 1, 150e6), 0.93);
  Bench four({400e6, 100e6, 25e6, 10e6});
  four.stream(4 << 20, 20, 4);
  EXPECT_GT(four.share(4 << 20, 200, 4, 535e6), 0.95);
}

TEST(Trunk, ASingleMessageIsCutSoThatAllEndTogether) {
  Bench bench({30e6, 30e6, 30e6, 30e6});
  bench.stream(64 << 10, 50, 1);
  EXPECT_GT(bench.share(64 << 10, 200, 1, 120e6), 0.9);
}

TEST(Trunk, ARailThatSlowsDownHoldsNothingUp) {
  Bench bench({120e6, 120e6});
  bench.stream(4 << 20, 50, 4);
  bench.rails[1].rate = 12e6;
  EXPECT_GT(bench.share(4 << 20, 100, 4, 132e6), 0.93);
  bench.rails[1].rate = 120e6;
  bench.stream(4 << 20, 20, 4);
  EXPECT_GT(bench.share(4 << 20, 100, 4, 240e6), 0.93);
}

TEST(Trunk, ARailThatFallsSilentCostsLittle) {
  Bench bench({120e6, 120e6});
  bench.stream(4 << 20, 50, 4);
  bench.rails[1].rate = 0;
  EXPECT_GT(bench.share(4 << 20, 50, 4, 120e6), 0.9);
}

TEST(Trunk, WhatADeadRailHeldGoesOverTheOthers) {
  Bench bench({120e6, 120e6, 60e6});
  for (int i = 0; i < 4; ++i) bench.begin(4 << 20);
  bench.step(Duration::ms(5));
  bench.rails.down(0);
  bench.step(Duration::ms(5));
  bench.rails.down(2);
  EXPECT_LT(bench.stream(1, 0, 1), Duration::ms(200));
  // With no rail at all nothing happens, and goes on when one comes back.
  bench.rails.down(1);
  bench.begin(1 << 20);
  bench.step(Duration::ms(100));
  EXPECT_EQ(bench.open.size(), 1u);
  bench.rails.up(2);
  EXPECT_LT(bench.stream(1, 0, 1), Duration::ms(40));
  EXPECT_GE(bench.rails[2].carried, 1u << 20);
}

// A message whose memory is far from a card gives it less to do.
TEST(Trunk, FarMemoryShiftsTheSplit) {
  Bench bench({100e6, 100e6});
  bench.stream(4 << 20, 20, 1);
  const std::uint64_t before = bench.rails[1].carried, all = bench.rails[0].carried + before;
  EXPECT_NEAR(static_cast<double>(before) / static_cast<double>(all), 0.5, 0.05);
  bench.rails.far = {1, 0.25};
  bench.begin(256 << 10);
  bench.step(Duration::ms(50));
  const std::uint64_t far = bench.rails[1].carried - before;
  EXPECT_NEAR(static_cast<double>(far) / (256 << 10), 0.2, 0.05);
}

// Whatever happens, every byte of every message arrives at least once, and every message ends once.
TEST(Trunk, NothingIsLostWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Rng random(seed);
    std::uint64_t draws = 0;
    const auto draw = [&](std::uint64_t below) { return random.at(draws++) % below; };
    Bench bench(std::vector<double>(1 + draw(4), 100e6));
    const auto rails = static_cast<std::size_t>(bench.rails.rail_count(RankId(1)));
    std::size_t sent = 0;
    for (int i = 0; i < 300; ++i) {
      const std::size_t rail = draw(rails);
      switch (draw(8)) {
        case 0:
          if (bench.rails[rail].up) bench.rails.down(rail);
          break;
        case 1:
          if (!bench.rails[rail].up) bench.rails.up(rail);
          break;
        case 2:
          bench.rails[rail].rate = static_cast<double>(draw(5)) * 50e6;
          break;
        case 3:
        case 4: {
          const std::size_t size = 1 + draw(draw(2) == 0 ? 100'000 : 3'000'000);
          sent += size;
          bench.begin(size);
          break;
        }
        default:
          bench.step(Duration::us(static_cast<std::int64_t>(draw(3000))));
      }
    }
    for (std::size_t i = 0; i < rails; ++i) {
      bench.rails[i].rate = 100e6;
      if (!bench.rails[i].up) bench.rails.up(i);
    }
    bench.stream(1, 0, 1);
    EXPECT_TRUE(bench.open.empty());
    std::size_t landed = 0;
    for (const auto& [offset, size] : bench.rails.landed()) landed += size;
    EXPECT_GE(landed, sent);
    EXPECT_FALSE(bench.trunk.busy());
  }
}

// Frames carry copies, so their sender is told at once, and no completion follows.
TEST(Trunk, FramesGoOnceOverAllRails) {
  Bench bench({100e6, 2e6});
  for (int i = 0; i < 20; ++i) bench.begin(64 << 10, true);
  while (bench.trunk.busy()) bench.step(Duration::us(100));
  EXPECT_TRUE(bench.open.empty());
  EXPECT_EQ(bench.rails[0].carried + bench.rails[1].carried, 20u * (64 << 10));
  EXPECT_GT(bench.rails[1].carried, 0u);
}

// Cards say 10 Gbit/s where wires carry a fortieth: a few microseconds of latency are worth little
// then, also if no longer message has shown what rails carry.
TEST(Trunk, ShortMessagesLearnThatWiresAreSlow) {
  Bench bench({31e6, 31e6, 31e6, 31e6});
  bench.rails[0].latency = Duration::us(60);
  bench.stream(64 << 10, 20, 1);
  EXPECT_GT(bench.share(64 << 10, 20, 1, 124e6), 0.9);
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < 4; ++i) before.push_back(bench.rails[i].carried);
  bench.begin(64 << 10, true);
  while (bench.trunk.busy()) bench.step(Duration::us(20));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(bench.rails[i].carried - before[i], 16u << 10);
}

// They measure nothing, so now and then something else goes: not often enough to cost time, but
// soon enough to notice a rail that has changed.
TEST(Trunk, FramesGiveWayToMeasuringNowAndThen) {
  Bench bench({100e6, 100e6});
  EXPECT_FALSE(bench.trunk.alike(RankId(1))) << "nothing is known yet";
  bench.stream(1 << 20, 20, 4);
  int measuring = 0;
  for (int i = 0; i < 1000; ++i) {  // A second.
    measuring += bench.trunk.alike(RankId(1)) ? 0 : 1;
    bench.step(Duration::ms(1));
  }
  EXPECT_GE(measuring, 15);
  EXPECT_LE(measuring, 25);
  measuring = 0;
  for (int i = 0; i < 100; ++i) {  // Few of them: not every one.
    measuring += bench.trunk.alike(RankId(1)) ? 0 : 1;
    bench.step(Duration::ms(100));
  }
  EXPECT_GE(measuring, 4);
  EXPECT_LE(measuring, 7);
}

// Sends a message of `size` bytes from rank 0. Returns the number of frames that each rail has
// then.
std::vector<std::size_t> rails_after(TestRails& rails, std::uint32_t to, std::size_t size) {
  const Options options;
  Messenger messenger(rails.fabric(), options);
  std::vector<std::byte> data(size);
  Sending sending;
  sending.to = RankId(to);
  sending.data = data.data();
  sending.size = size;
  messenger.send(sending);
  std::vector<std::size_t> frames;
  for (int i = 0; i < rails.rail_count(RankId(to)); ++i)
    frames.push_back(rails[static_cast<std::size_t>(i)].queue.size());
  return frames;
}
using Frames = std::vector<std::size_t>;

TEST(SmallMessages, ToDifferentRanksTakeDifferentRailsThatAreAlike) {
  TestRails rails({1e9, 1e9});
  rails[1].latency = Duration::us(25);
  EXPECT_EQ(rails_after(rails, 1, 100), (Frames{0, 1}));
  EXPECT_EQ(rails_after(rails, 2, 100), (Frames{1, 1}));
  EXPECT_EQ(rails_after(rails, 1, 100), (Frames{1, 2}));  // Always the same of a pair.
}

TEST(SmallMessages, TakeNoRailThatIsMuchSlowerOrDown) {
  TestRails rails({1e9, 1e9, 1e9});
  rails[1].latency = Duration::us(50);
  EXPECT_EQ(rails_after(rails, 1, 100), (Frames{0, 0, 1}));
  rails[2].up = false;
  EXPECT_EQ(rails_after(rails, 1, 100), (Frames{1, 0, 1}));
  EXPECT_EQ(rails_after(rails, 2, 100), (Frames{2, 0, 1}));
}

// Their answers come in the order of the requests, and so does the data: on each rail in the same.
TEST(SmallMessages, RequestsOfLargeOnesKeepToOneRail) {
  TestRails rails({1e9, 1e9});
  EXPECT_EQ(rails_after(rails, 1, 1 << 20), (Frames{1, 0}));
  EXPECT_EQ(rails_after(rails, 2, 1 << 20), (Frames{2, 0}));
}

}  // namespace
}  // namespace weft::mp
