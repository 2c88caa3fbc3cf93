// SPDX-License-Identifier: Apache-2.0
// One more kind of rail, made here and known nowhere else: a pipe between threads of this process.
// It is added to the table of kinds, and carries frames and writes beside TCP; either breaks, and
// the other goes on.
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <weft/real/wire/rail_kinds.hpp>
#include <weft/real/wire/socket.hpp>
#include <weft/real/wire/test_job.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {
namespace {

// Both directions between two ranks; side 0 is the lower one. Breaking it loses what is inside.
class Pipe {
 public:
  struct Letter {
    std::uint64_t number = 0;
    Record record;
    std::vector<std::byte> data;
  };

  void break_now() {
    const std::lock_guard lock(mutex_);
    ++generation_;
    for (auto& queue : queues_) queue.clear();
    for (const int wake : wake_) ring(wake);
  }
  std::uint64_t generation() {
    const std::lock_guard lock(mutex_);
    return generation_;
  }
  void set_wake(int side, int descriptor) {
    const std::lock_guard lock(mutex_);
    wake_[side] = descriptor;
  }
  // Lost if the pipe was broken since that generation.
  void put(int from, std::uint64_t generation, Letter&& letter) {
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return;
    queues_[1 - from].push_back(std::move(letter));
    ring(wake_[1 - from]);
  }
  bool take(int side, Letter& letter) {
    const std::lock_guard lock(mutex_);
    if (queues_[side].empty()) return false;
    letter = std::move(queues_[side].front());
    queues_[side].pop_front();
    taken_[side] = letter.number;
    return true;
  }
  // The last letter of this side that the other one has.
  std::uint64_t arrived_from(int side) {
    const std::lock_guard lock(mutex_);
    return taken_[1 - side];
  }

 private:
  static void ring(int descriptor) {
    const std::uint64_t one = 1;
    if (descriptor < 0) return;
    EXPECT_EQ(::write(descriptor, &one, sizeof one), 8);
  }
  std::mutex mutex_;
  std::uint64_t generation_ = 0;
  std::array<std::deque<Letter>, 2> queues_;  // By reader.
  std::array<std::uint64_t, 2> taken_ = {};
  std::array<int, 2> wake_ = {-1, -1};
};

std::mutex pipes_mutex;
std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<Pipe>> pipes;
std::atomic<std::uint64_t> frames_carried, writes_carried, rails_broken;

class PipeRail final : public LinkRail {
 public:
  PipeRail(std::shared_ptr<Pipe> pipe, int side, LinkRailHost& host)
      : LinkRail(host, true), pipe_(std::move(pipe)), side_(side) {}

  std::string name() const override { return "pipe"; }
  RailCost cost() const override { return {Rate::gbit_per_s(10), Duration::ns(10)}; }
  void open(Time) override {
    if (up()) return;
    generation_ = pipe_->generation();
    follow(RailEvent::ready);
    host().rail_up(*this);
  }
  void send(const Frame& frame) override { forward(outgoing_from(frame)); }
  bool write(const RemoteWrite& write) override {
    if (!up()) return false;
    forward(outgoing_from(write));
    return true;
  }
  void forward(Outgoing&& record) override {
    Pipe::Letter letter{++number_, record.record, {}};
    if (record.record.size > 0) letter.data.assign(record.data, record.data + record.record.size);
    pipe_->put(side_, generation_, std::move(letter));
    flight_.emplace_back(number_, std::move(record));
  }
  bool poll(Completion& out, Arrival& arrival) override {
    Pipe::Letter letter;
    if (gave_up() || !up() || !pipe_->take(side_, letter)) return false;
    arrival.record = letter.record;
    arrival.kept = true;
    const bool write = letter.record.kind == RecordKind::write;
    out = {};
    out.kind = write ? Completion::Kind::written : Completion::Kind::frame;
    out.peer = host().peer();
    out.rail = RailId(index());
    out.size = letter.record.size;
    out.head = letter.record.head;
    if (write) {
      const Stretch there =
          host().regions().find(letter.record.key, letter.record.offset, letter.record.size);
      arrival.kept = there.data != nullptr;
      if (arrival.kept) std::memcpy(there.data, letter.data.data(), letter.data.size());
      ++writes_carried;
    } else {
      out.data = std::make_unique<std::byte[]>(letter.data.size());
      if (!letter.data.empty()) {
        std::memcpy(out.data.get(), letter.data.data(), letter.data.size());
      }
      ++frames_carried;
    }
    return true;
  }
  void stir_from_kind() { host().readable(*this); }
  void tend(Time now) override {
    settle();
    if (gave_up()) return;
    if (!up() && host().may_connect()) open(now);
    if (host().may_close(now) && flight_.empty() && up()) end_with(RailEvent::drained);
  }
  bool outstanding() const override { return !flight_.empty(); }
  bool owes() const override { return !flight_.empty(); }

 private:
  bool gave_up() {
    if (!up() || pipe_->generation() == generation_) return false;
    ++rails_broken;
    end_with(RailEvent::broken);
    return true;
  }
  void end_with(RailEvent event) {
    settle();
    follow(event);
    std::vector<Outgoing> left;
    for (auto& [number, outgoing] : flight_) left.push_back(std::move(outgoing));
    flight_.clear();
    host().rail_down(*this, std::move(left), {});
  }
  void settle() {
    const std::uint64_t arrived = pipe_->arrived_from(side_);
    while (!flight_.empty() && flight_.front().first <= arrived) {
      const std::uint64_t cookie = flight_.front().second.cookie;
      if (cookie != 0) host().report(*this, Completion::Kind::sent, cookie);
      flight_.pop_front();
    }
  }

  std::shared_ptr<Pipe> pipe_;
  int side_;
  std::uint64_t generation_ = 0, number_ = 0;
  std::deque<std::pair<std::uint64_t, Outgoing>> flight_;
};

class PipeKind final : public RailKind {
 public:
  PipeKind(RankId self, KindHost& host) : self_(self), host_(host) {}
  ~PipeKind() override {
    for (auto& [peer, end] : ends_) end.pipe->set_wake(end.side, -1);
  }
  std::string place() const override { return "here"; }
  Status open(const Neighbourhood&) override { return {}; }
  std::string address() const override { return "here"; }
  Status add_rails(const Meeting& meeting, Link& link, std::string&) override {
    const std::uint32_t peer = meeting.peer.index;
    End& end = ends_[peer];
    {
      const std::lock_guard lock(pipes_mutex);
      auto& pipe = pipes[std::minmax(self_.index, peer)];
      if (pipe == nullptr) pipe = std::make_shared<Pipe>();
      end.pipe = pipe;
    }
    end.side = self_.index < peer ? 0 : 1;
    end.wake = Descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    end.pipe->set_wake(end.side, end.wake.get());
    auto rail = std::make_unique<PipeRail>(end.pipe, end.side, link);
    end.rail = rail.get();
    link.add(std::move(rail));
    host_.watch(*this, peer, end.wake.get());
    return {};
  }
  void stir(std::uint32_t peer) override {
    const End& end = ends_[peer];
    std::uint64_t count = 0;
    while (::read(end.wake.get(), &count, sizeof count) > 0) {
    }
    end.rail->stir_from_kind();
    if (!host_.accept_calls()) return;
    end.rail->open(host_.now());  // The peer has something to say.
    host_.connect(RankId(peer));
  }

 private:
  struct End {
    std::shared_ptr<Pipe> pipe;
    int side = 0;
    Descriptor wake;
    PipeRail* rail = nullptr;
  };
  RankId self_;
  KindHost& host_;
  std::map<std::uint32_t, End> ends_;
};

bool is_pipe(std::string_view word) {
  return word == "pipe";
}
Result<std::unique_ptr<RailKind>> find_pipes(const KindSetting& setting, KindHost& host) {
  if (setting.wishes.empty()) return std::unique_ptr<RailKind>();
  return std::unique_ptr<RailKind>(std::make_unique<PipeKind>(setting.self, host));
}

class RailKinds : public testing::Test {
 protected:
  RailKinds() {
    static const bool added =
        (add_rail_kind(
             {.name = "pipe", .example = "pipe", .claims = &is_pipe, .find = &find_pipes}),
         true);
    EXPECT_TRUE(added);
    const std::lock_guard lock(pipes_mutex);
    pipes.clear();
    frames_carried = writes_carried = rails_broken = 0;
    settings.shared_memory = false;
    settings.rails = {"127.0.0.1", "pipe"};
  }
  launch::Settings settings;
};

TEST_F(RailKinds, ARailOfANewKindCarriesFramesAndWrites) {
  run_job(3, settings, [](Wire& wire) {
    const RankId peer(wire.self().index == 0 ? 1 : 0);
    EXPECT_EQ(wire.rail_count(peer), 2);
    EXPECT_EQ(wire.rail_name(peer, RailId(0)), "lo");
    EXPECT_EQ(wire.rail_name(peer, RailId(1)), "pipe");
    talk(wire, measured(), 200, 1'000'000);
  });
  EXPECT_GT(frames_carried, 20u);
  EXPECT_GT(writes_carried, 10u);
  EXPECT_EQ(rails_broken, 0u);
}

// TCP connections and pipes break at random for a while, and nothing is lost.
TEST_F(RailKinds, RailsOfDifferentKindsStandInForEachOther) {
  ConnectionBreaker connections(4);
  std::thread breaks([&] {
    const Rng random(3);
    for (std::uint64_t i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random.at(i) % 50));
      const std::lock_guard lock(pipes_mutex);
      for (auto& [ranks, pipe] : pipes) pipe->break_now();
    }
    connections.stop();
  });
  run_job(3, settings, [](Wire& wire) { talk(wire, measured(), 300, 1'000'000); });
  breaks.join();
  EXPECT_GT(connections.broken(), 3);
  EXPECT_GT(rails_broken, 5u);
  EXPECT_GT(frames_carried, 20u);
  EXPECT_GT(writes_carried, 10u);
}

}  // namespace
}  // namespace weft::wire
