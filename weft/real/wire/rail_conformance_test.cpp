// SPDX-License-Identifier: Apache-2.0
// What every kind of rail promises, asked of each row of the table: jobs of a few processes that
// have rails of this kind alone (and those that it needs beside it). A new kind is tested here
// without more.
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/real/wire/contact.hpp>
#include <weft/real/wire/rail_kinds.hpp>
#include <weft/real/wire/test_job.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {
namespace {

constexpr Duration patience = Duration::ms(20'000);

class EveryRailWorkers : public testing::TestWithParam<RailKindRow> {
 protected:
  void SetUp() override {
    settings.shared_memory = GetParam().example.empty();
    if (!settings.shared_memory) settings.rails = {std::string(GetParam().example)};
    MeetingPlace table(1);
    ThreadSeat seat(table, 0, 1, settings);
    const auto alone = Wire::join(seat);
    if (!alone && !GetParam().everywhere) GTEST_SKIP() << alone.error().text();
    ASSERT_TRUE(alone) << alone.error().text();
  }
  // Rails of other kinds, which this one needs beside it, come before its own.
  bool is_own(const Wire& wire, RankId peer, RailId rail) const {
    return wire.rail_facts(peer, rail).frames == GetParam().carries_frames;
  }
  // Looks after the network until this holds; false: it never did.
  static bool wait_until(Wire& wire, const std::function<bool()>& holds,
                         const std::function<void(Completion&)>& hear = {}) {
    const Time limit = wire.now() + patience;
    while (!holds() && wire.now() < limit) {
      for (Completion in; !holds() && wire.poll(in);) {
        if (hear) hear(in);
      }
      if (!holds()) wire.wait(wire.now() + Duration::ms(1));
    }
    return holds();
  }
  static const std::byte* data_of(const Completion& in) {
    return in.lent != nullptr ? in.lent : in.data.get();
  }
  // What both ranks tell each other in a frame; a test calls it once, before other frames.
  static std::uint64_t swap_words(Wire& wire, std::uint64_t own) {
    FrameHead head = {};
    std::memcpy(head.data() + 8, &own, sizeof own);
    wire.post({RankId(1 - wire.self().index), RailId(0), {}, false}, head, {}, false, 0);
    std::uint64_t theirs = 0;
    EXPECT_TRUE(wait_until(
        wire, [&] { return theirs != 0; },
        [&](Completion& in) {
          if (in.kind != Completion::Kind::frame) return;
          std::memcpy(&theirs, in.head.data() + 8, sizeof theirs);
        }));
    return theirs;
  }

  launch::Settings settings;
};

TEST_P(EveryRailWorkers, CarriesMessagesOfAllSizes) {
  run_job(3, settings, [](Wire& wire) { talk(wire, measured(), 150, 1'000'000); });
}

// On all rails in turn, some with data that is gone when the call returns.
TEST_P(EveryRailWorkers, KeepsFramesWholeAndInOrder) {
  const std::vector<std::size_t> sizes = {0, 1, 7, 64, 4095, 4096, 4097, 65'536, 300'001};
  constexpr std::uint64_t frames = 200;
  run_job(2, settings, [&](Wire& wire) {
    const RankId peer(1 - wire.self().index);
    std::vector<std::vector<std::byte>> kept;
    std::uint64_t sent = 0, came = 0;
    for (std::uint64_t i = 0; i < frames; ++i) {
      std::vector<std::byte> data(sizes[i % sizes.size()]);
      for (std::size_t b = 0; b < data.size(); ++b) data[b] = byte_at(i, b);
      FrameHead head = {};
      std::memcpy(head.data() + 8, &i, sizeof i);
      const RailId rail(static_cast<std::uint32_t>(i) %
                        static_cast<std::uint32_t>(wire.rail_count(peer)));
      const bool stable = i % 2 == 0;
      wire.post({peer, rail, {}, i % 5 == 0}, head, {data.data(), data.size()}, stable,
                stable ? i + 1 : 0);
      if (stable) kept.push_back(std::move(data));
    }
    const auto hear = [&](Completion& in) {
      if (in.kind == Completion::Kind::sent) ++sent;
      if (in.kind != Completion::Kind::frame) return;
      std::uint64_t number = 0;
      std::memcpy(&number, in.head.data() + 8, sizeof number);
      ASSERT_EQ(number, came);
      ASSERT_EQ(in.size, sizes[number % sizes.size()]);
      std::size_t wrong = 0;
      for (std::size_t b = 0; b < in.size; ++b) wrong += data_of(in)[b] != byte_at(number, b);
      ASSERT_EQ(wrong, 0u) << "frame " << number;
      ++came;
    };
    EXPECT_TRUE(wait_until(
        wire, [&] { return came == frames && sent == frames / 2; }, hear))
        << came << " frames came, " << sent << " were reported as sent";
  });
}

// Each rank writes into memory of the other; what is not asked for stays as it was.
TEST_P(EveryRailWorkers, WritesIntoMemoryOfThePeer) {
  constexpr std::array<std::size_t, 4> sizes = {1, 5000, 200'000, 2'000'001};
  constexpr std::size_t gap = 100;
  run_job(2, settings, [&](Wire& wire) {
    const RankId peer(1 - wire.self().index);
    std::vector<std::byte> memory(3'000'000), data(memory.size());
    for (std::size_t b = 0; b < data.size(); ++b) data[b] = byte_at(1, b);
    const std::uint64_t key = wire.register_memory(peer, memory.data(), memory.size());
    const std::uint64_t target = swap_words(wire, key);
    std::uint32_t own = 0;
    const auto up = [&] {
      for (own = 0; own < static_cast<std::uint32_t>(wire.rail_count(peer)); ++own) {
        if (is_own(wire, peer, RailId(own)) && wire.rail_facts(peer, RailId(own)).up) return true;
      }
      return false;
    };
    const auto write = [&](std::size_t i) {
      std::size_t offset = gap;
      for (std::size_t before = 0; before < i; ++before) offset += sizes[before] + gap;
      FrameHead notice = {};
      notice[8] = static_cast<std::byte>(i + 1);
      wire.write({peer, RailId(own), {}, false}, {data.data() + offset, sizes[i]}, {target, offset},
                 notice, i + 1);
    };
    std::size_t sent = 0, came = 0;
    const auto hear = [&](Completion& in) {
      // A rail may break; then the message layer repeats the write.
      if (in.kind == Completion::Kind::unsent) write(static_cast<std::size_t>(in.cookie) - 1);
      if (in.kind == Completion::Kind::sent) ++sent;
      if (in.kind != Completion::Kind::written) return;
      const auto i = static_cast<std::size_t>(in.head[8]) - 1;
      ASSERT_LT(i, sizes.size());
      EXPECT_EQ(in.size, sizes[i]);
      ++came;
    };
    ASSERT_TRUE(wait_until(wire, up, hear)) << "no rail comes up";
    for (std::size_t i = 0; i < sizes.size(); ++i) write(i);
    ASSERT_TRUE(wait_until(
        wire, [&] { return sent >= sizes.size() && came >= sizes.size(); }, hear))
        << came << " writes came, " << sent << " were reported as sent";
    std::size_t at = 0, wrong = 0;
    for (const std::size_t size : sizes) {
      for (std::size_t i = 0; i < gap; ++i, ++at) wrong += memory[at] != std::byte{};
      for (std::size_t i = 0; i < size; ++i, ++at) wrong += memory[at] != data[at];
    }
    for (; at < memory.size(); ++at) wrong += memory[at] != std::byte{};
    EXPECT_EQ(wrong, 0u);
    wire.deregister_memory(key);
  });
}

TEST_P(EveryRailWorkers, ReportsItsCostAndState) {
  run_job(2, settings, [&](Wire& wire) {
    const RankId peer(1 - wire.self().index);
    const bool connects = wire.needs_connection(peer);
    EXPECT_EQ(wire.connected(peer), !connects);
    talk(wire, measured(), 20, 10'000);
    EXPECT_TRUE(wire.connected(peer));
    int own = 0;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(wire.rail_count(peer)); ++i) {
      const RailId rail(i);
      if (!is_own(wire, peer, rail)) continue;
      ++own;
      EXPECT_TRUE(wait_until(wire, [&] { return wire.rail_facts(peer, rail).up; }));
      EXPECT_GT(wire.rail_facts(peer, rail).rate, Rate());
      EXPECT_GE(wire.rail_facts(peer, rail).latency, Duration());
      EXPECT_LT(wire.rail_facts(peer, rail).latency, Duration::ms(100));
      EXPECT_EQ(wire.rail_name(peer, rail).empty(), !connects);
    }
    EXPECT_GE(own, 1);
    EXPECT_TRUE(wire.trouble_with(peer).empty());
  });
}

// Connections are let go of and opened again; a frame that comes in between is not lost.
TEST_P(EveryRailWorkers, PartsAndMeetsAgain) {
  if (!GetParam().carries_frames) GTEST_SKIP() << "it needs the rails beside it at any time";
  std::atomic<bool> connects = true;
  run_job(2, settings, [&](Wire& wire) {
    const RankId peer(1 - wire.self().index);
    connects = wire.needs_connection(peer);
    if (!connects) return;
    for (int round = 0; round < 5; ++round) {
      talk(wire, measured(), 10, 100'000);
      wire.disconnect(peer);
      if (round % 2 == 0) continue;
      EXPECT_TRUE(wait_until(wire, [&] { return !wire.connected(peer); }));
    }
  });
  if (!connects) GTEST_SKIP() << "it has no connections";
}

TEST_P(EveryRailWorkers, LosesNothingWhenConnectionsBreak) {
  if (!GetParam().carries_frames) GTEST_SKIP() << "its connections belong to the rails beside it";
  ConnectionBreaker breaker(7);
  run_job(3, settings, [&](Wire& wire) {
    talk(wire, measured(), 300, 1'000'000);
    breaker.stop();
  });
  if (breaker.broken() == 0) GTEST_SKIP() << "it has no connections that a test can break";
  EXPECT_GT(breaker.broken(), 2);
}

// A process that computes for long is not lost.
TEST_P(EveryRailWorkers, WaitsForABusyPeer) {
  settings.lost_after = Duration::ms(600);
  run_job(2, settings, [](Wire& wire) {
    if (wire.self().index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    talk(wire, measured(), 20, 100'000);
  });
}

// A seat for one of two processes, joined by a socket.
class PairSeat final : public launch::Seat {
 public:
  PairSeat(int socket, std::uint32_t self, const launch::Settings& settings)
      : socket_(socket), self_(self), settings_(settings) {}
  std::uint32_t self() const override { return self_; }
  std::uint32_t ranks() const override { return 2; }
  const launch::Secret& secret() const override { return secret_; }
  const launch::Settings& settings() const override { return settings_; }
  Result<std::vector<std::string>> exchange(const std::string& card) override {
    const std::size_t size = card.size();
    std::size_t theirs = 0;
    std::string other;
    bool good = ::send(socket_, &size, sizeof size, 0) == ssize_t{sizeof size} &&
                ::send(socket_, card.data(), size, 0) == static_cast<ssize_t>(size) &&
                ::recv(socket_, &theirs, sizeof theirs, MSG_WAITALL) == ssize_t{sizeof theirs};
    other.resize(theirs);
    good =
        good && ::recv(socket_, other.data(), theirs, MSG_WAITALL) == static_cast<ssize_t>(theirs);
    if (!good) return Error::run("the other process is gone");
    std::vector<std::string> cards = {card, std::move(other)};
    if (self_ == 1) std::swap(cards[0], cards[1]);
    return cards;
  }
  int descriptor() const override { return -1; }
  bool next_notice(launch::Notice&) override { return false; }
  void leave() override {}
  [[noreturn]] void abort(int, const std::string&) override { std::abort(); }

 private:
  int socket_;
  std::uint32_t self_;
  launch::Settings settings_;
  launch::Secret secret_{};
};

// No message says that the other process was killed: the rail finds out. A frame that it sent
// before is delivered first.
TEST_P(EveryRailWorkers, NoticesThatAPeerIsGone) {
  settings.lost_after = Duration::ms(2000);
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(sockets[0]);
    PairSeat seat(sockets[1], 1, settings);
    const auto wire = Wire::join(seat);
    if (wire && swap_words(**wire, 1) == 2) ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  ::close(sockets[1]);
  PairSeat seat(sockets[0], 0, settings);
  const auto joined = Wire::join(seat);
  ASSERT_TRUE(joined) << joined.error().text();
  Wire& wire = **joined;
  EXPECT_EQ(swap_words(wire, 2), 1u);
  bool lost = false;
  EXPECT_TRUE(wait_until(
      wire, [&] { return lost; },
      [&](Completion& in) { lost = lost || in.kind == Completion::Kind::peer_lost; }));
  EXPECT_FALSE(wire.trouble_with(RankId(1)).empty());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the other process could not join, or heard nothing";
  ::close(sockets[0]);
}

// A word that is meant for this kind, but says nothing that it has.
TEST_P(EveryRailWorkers, RefusesWordsThatItDoesNotKnow) {
  if (GetParam().example.empty()) {
    EXPECT_EQ(claimant_of(GetParam().name), nullptr);
    return;
  }
  const std::string word = std::string(GetParam().example) + ":no-such-thing";
  ASSERT_EQ(claimant_of(word), claimant_of(GetParam().example));
  settings.rails = {word};
  MeetingPlace table(1);
  ThreadSeat seat(table, 0, 1, settings);
  const auto joined = Wire::join(seat);
  ASSERT_FALSE(joined);
  EXPECT_NE(joined.error().text().find("'" + word + "'"), std::string::npos)
      << joined.error().text();
}

// The second thing that a peer tells of this kind, its address, makes no sense.
class MisleadingSeat final : public launch::Seat {
 public:
  MisleadingSeat(launch::Seat& seat, std::uint32_t row) : seat_(seat), row_(row) {}
  std::uint32_t self() const override { return seat_.self(); }
  std::uint32_t ranks() const override { return seat_.ranks(); }
  const launch::Secret& secret() const override { return seat_.secret(); }
  const launch::Settings& settings() const override { return seat_.settings(); }
  Result<std::vector<std::string>> exchange(const std::string& card) override {
    auto cards = seat_.exchange(card);
    if (++rounds_ != 2 || !cards) return cards;
    auto address = parse_address((*cards)[1 - self()]);
    EXPECT_TRUE(address);
    EXPECT_FALSE(address->rails[row_].empty());
    address->rails[row_] = "no address at all";
    (*cards)[1 - self()] = to_text(*address);
    return cards;
  }
  int descriptor() const override { return -1; }
  bool next_notice(launch::Notice&) override { return false; }
  void leave() override {}
  [[noreturn]] void abort(int, const std::string&) override { std::abort(); }

 private:
  launch::Seat& seat_;
  std::uint32_t row_;
  int rounds_ = 0;
};

TEST_P(EveryRailWorkers, RefusesNonsenseFromAPeer) {
  const auto rows = rail_kinds();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [](const auto& one) { return one.name == GetParam().name; });
  MeetingPlace table(2);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      ThreadSeat seat(table, i, 2, settings);
      MisleadingSeat misleading(seat, static_cast<std::uint32_t>(row - rows.begin()));
      const auto joined = Wire::join(misleading);
      EXPECT_FALSE(joined);
      if (joined) return;
      EXPECT_NE(joined.error().text().find("nonsense"), std::string::npos) << joined.error().text();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::string name_of(const testing::TestParamInfo<RailKindRow>& info) {
  std::string name(info.param.name);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryRailWorkers, testing::ValuesIn(rail_kinds()), name_of);

}  // namespace
}  // namespace weft::wire
