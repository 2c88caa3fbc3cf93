// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/program/rank_channel/rank_server.hpp>
#include <weft/program/rank_process/remote_rank.hpp>

namespace weft {
namespace {

constexpr Duration call_time = Duration::ns(10), post_time = Duration::ns(70);

// Notes what it is asked for, and charges for posts what the other side cannot know.
class NotingNetwork final : public Transport,
                            public Connections,
                            public Rails,
                            public Processor,
                            public MessageObserver {
 public:
  Fabric fabric() { return {RankId(1), 4, 0, true, true, *this, *this, *this, *this, this}; }

  void post(const SendPath& path, const FrameHead&, Payload payload, bool, std::uint64_t) override {
    notes.push_back("post " + std::to_string(path.peer.index) + " " + std::to_string(payload.size));
    clock = clock + post_time;
  }
  void write(const SendPath&, Payload payload, RemoteMemory target, const FrameHead&,
             std::uint64_t) override {
    Completion written;
    written.kind = Completion::Kind::written;
    written.size = payload.size;
    written.data = std::make_unique<std::byte[]>(payload.size);
    std::copy_n(payload.data, payload.size, written.data.get());
    written.target = reinterpret_cast<std::byte*>(target.key) + target.offset;
    inbox.push_back(std::move(written));
  }
  bool take_back(RankId, std::uint64_t) override { return false; }
  std::uint64_t register_memory(RankId, std::byte*, std::size_t) override { return 0; }
  void deregister_memory(std::uint64_t) override {}
  bool poll(Completion& out) override {
    if (inbox.empty()) return false;
    out = std::move(inbox.front());
    inbox.pop_front();
    return true;
  }
  void wait(Time until) override {
    if (teller != nullptr) notes.push_back("waits for " + teller->waiting().what);
    clock = until;
  }
  void connect(RankId) override {}
  void disconnect(RankId) override {}
  bool connected(RankId peer) const override { return peer.index < 2; }
  bool needs_connection(RankId) const override { return true; }
  int rail_count(RankId) const override { return 3; }
  RailFacts rail_facts(RankId, RailId rail) const override {
    return {Rate::gbyte_per_s(10), Duration::ns(rail.index), true};
  }
  void lower_rates(RankId, const std::byte*, std::span<double>) const override {}
  Time now() const override { return clock; }
  void copy(std::byte*, const std::byte*, std::size_t size) override {
    clock = clock + Duration::ns(static_cast<std::int64_t>(size));
  }
  void spend(Duration time) override { clock = clock + time; }
  void enter_call() override { spend(call_time); }
  void set_teller(const WaitTeller* given) override { teller = given; }

  std::vector<std::string> notes;
  std::deque<Completion> inbox;
  Time clock;
  const WaitTeller* teller = nullptr;
};

class NoRuntime final : public mpi::Runtime {
 public:
  [[noreturn]] void abort(RankId, int, const std::string&) override { std::abort(); }
  std::string processor_name(RankId) const override { return "here"; }
  std::uint32_t node_of(RankId) const override { return 0; }
  void leave() override { has_left = true; }
  bool has_left = false;
};

class OneCall final : public RemoteRank::Reporter, public WaitTeller {
 public:
  RankReport report() override {
    RankReport report;
    report.eager = 6;
    return report;
  }
  Waiting waiting() const override { return {"MPI_Recv", "rank 7", {RankId(7)}, 0}; }
};

// The simulator's side serves in another thread, until the rank is gone.
class RemoteRankTest : public testing::Test {
 protected:
  void SetUp() override {
    RankChannel there;
    ASSERT_TRUE(RankChannel::make_pair(here_, there));
    RankWelcome welcome;
    welcome.self = RankId(1);
    welcome.ranks = 4;
    welcome.call_overhead = call_time;
    welcome.request_overhead = Duration::ns(3);
    server_ =
        std::make_unique<RankServer>(here_, network_.fabric(), RankServer::Job{runtime_, welcome});
    thread_ = std::thread([this] {
      std::vector<std::byte> packet;
      while (here_.receive(packet) && server_->serve(packet)) {
      }
    });
    rank_ = std::make_unique<RemoteRank>(std::move(there), reporter_);
  }
  void TearDown() override {
    rank_.reset();
    thread_.join();
  }

  NotingNetwork network_;
  NoRuntime runtime_;
  OneCall reporter_;
  RankChannel here_;
  std::unique_ptr<RankServer> server_;
  std::unique_ptr<RemoteRank> rank_;
  std::thread thread_;
};

TEST_F(RemoteRankTest, BothSidesCountTheSameTime) {
  EXPECT_EQ(rank_->fabric().self, RankId(1));
  EXPECT_EQ(rank_->fabric().ranks, 4u);
  rank_->enter_call();
  EXPECT_EQ(rank_->now(), Time::zero() + call_time);
  EXPECT_EQ(network_.clock, Time::zero());  // Not told yet.
  rank_->spend(Duration::ns(5));
  rank_->leave_call();
  EXPECT_EQ(network_.clock, rank_->now());
  rank_->post({RankId(2), RailId(0), {}}, {}, {}, false, 0);
  rank_->copy(nullptr, nullptr, 8);
  EXPECT_EQ(rank_->now(), Time::zero() + call_time + Duration::ns(13) + post_time);
}

TEST_F(RemoteRankTest, RequestsArriveInTheirOrder) {
  const std::array<std::byte, 3> data = {};
  rank_->post({RankId(2), RailId(0), {}}, {}, {data.data(), 3}, true, 1);
  rank_->post({RankId(3), RailId(0), {}}, {}, {nullptr, 9}, true, 2);
  Completion none;
  EXPECT_FALSE(rank_->poll(none));
  EXPECT_EQ(network_.notes, (std::vector<std::string>{"post 2 3", "post 3 9"}));
  EXPECT_TRUE(rank_->connected(RankId(1)));
  EXPECT_FALSE(rank_->connected(RankId(2)));
  EXPECT_EQ(rank_->rail_count(RankId(2)), 3);
  EXPECT_EQ(rank_->rail_facts(RankId(2), RailId(2)).latency, Duration::ns(2));
}

TEST_F(RemoteRankTest, WritesLandInTheRanksMemory) {
  std::array<std::byte, 8> place = {};
  const std::array<std::byte, 2> data = {std::byte{1}, std::byte{2}};
  const std::uint64_t key = rank_->register_memory(RankId(0), place.data(), place.size());
  rank_->write({RankId(1), RailId(0), {}}, {data.data(), 2}, {key, 5}, {}, 11);
  Completion written;
  ASSERT_TRUE(rank_->poll(written));
  EXPECT_EQ(written.kind, Completion::Kind::written);
  EXPECT_EQ(place[5], std::byte{1});
  EXPECT_EQ(place[6], std::byte{2});
}

TEST_F(RemoteRankTest, SaysWhatItWaitsForWhileItWaits) {
  rank_->set_teller(&reporter_);
  rank_->wait(Time::ps(400));
  EXPECT_EQ(network_.notes, std::vector<std::string>{"waits for rank 7"});
  EXPECT_EQ(rank_->now(), Time::ps(400));
}

TEST_F(RemoteRankTest, TellsItsCountsAndLeaves) {
  rank_->leave();
  EXPECT_TRUE(runtime_.has_left);
  EXPECT_TRUE(server_->left());
  rank_->tell_report();
  EXPECT_EQ(server_->report().eager, 6u);
}

}  // namespace
}  // namespace weft
