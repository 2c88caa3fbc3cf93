// SPDX-License-Identifier: Apache-2.0
// Whole jobs inside one process, a thread for each rank, over real sockets and
// shared memory.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <weft/message/mp/messenger.hpp>
#include <weft/real/wire/test_job.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {
namespace {

TEST(WireWorkers, SharedMemoryCarriesEveryByte) {
  run_job(3, {}, [](Wire& wire) { talk(wire, measured(), 200, 1'000'000); });
}

TEST(WireWorkers, SharedMemoryWithoutTheKernelsHelp) {
  launch::Settings settings;
  settings.single_copy = false;
  run_job(3, settings, [](Wire& wire) { talk(wire, measured(), 200, 1'000'000); });
}

TEST(WireWorkers, LargeFramesGoInPieces) {
  mp::Options options = measured();
  options.eager_limit = Bytes{1 << 20};
  options.credit = Bytes{4 << 20};
  run_job(2, {}, [&](Wire& wire) { talk(wire, options, 200, 1'000'000); });
  launch::Settings settings;
  settings.shared_memory = false;
  run_job(2, settings, [&](Wire& wire) { talk(wire, options, 100, 1'000'000); });
}

// Over TCP, protected or not.
class RailsWorkers : public testing::TestWithParam<launch::Protect> {
 protected:
  RailsWorkers() {
    one_rail.shared_memory = false;
    one_rail.protect = GetParam();
    two_rails = one_rail;
    two_rails.rails = {"127.0.0.1", "127.0.0.2"};
  }
  launch::Settings one_rail, two_rails;
};
INSTANTIATE_TEST_SUITE_P(Protect, RailsWorkers,
                         testing::Values(launch::Protect::off, launch::Protect::all),
                         [](const auto& test) { return std::string(launch::to_text(test.param)); });

TEST_P(RailsWorkers, CarryEveryByte) {
  run_job(3, one_rail, [](Wire& wire) {
    talk(wire, measured(), 100, 1'000'000);
    EXPECT_EQ(wire.rail_count(RankId(wire.self().index == 0 ? 1 : 0)), 1);
  });
  run_job(3, two_rails, [](Wire& wire) {
    talk(wire, measured(), 100, 1'000'000);
    EXPECT_EQ(wire.rail_count(RankId(wire.self().index == 0 ? 1 : 0)), 2);
  });
  mp::Options ahead = measured();
  ahead.head_start = Bytes{65536};
  ahead.credit = Bytes{262144};
  run_job(3, two_rails, [&](Wire& wire) { talk(wire, ahead, 300, 200'000); });
}

TEST(WireWorkers, RanksMustAgreeOnProtection) {
  MeetingPlace table(2);
  std::vector<std::string> said(2);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      launch::Settings settings;
      settings.shared_memory = false;
      if (i == 1) settings.protect = launch::Protect::off;
      ThreadSeat seat(table, i, 2, settings);
      if (const auto wire = Wire::join(seat); !wire) said[i] = wire.error().text();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_NE(said[i].find("rank " + std::to_string(1 - i) + " on host"), std::string::npos);
    EXPECT_NE(said[i].find("set WEFT_PROTECT to the same for all ranks"), std::string::npos)
        << said[i];
  }
}

// Sockets of this process that would tell of room for more, by what the kernel says of its epolls.
int watched_for_room() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      unsigned events = 0;
      if (std::sscanf(line.c_str(), "tfd: %*d events: %x", &events) == 1)
        count += (events & EPOLLOUT) != 0 ? 1 : 0;
    }
  }
  return count;
}

// It said that more would follow, and nothing did, or on another rail, or to somebody else.
TEST_P(RailsWorkers, SendAFrameThatWaitsForAnotherInTheEnd) {
  run_job(3, two_rails, [](Wire& wire) {
    const std::uint32_t self = wire.self().index;
    const RankId one((self + 1) % 3), other((self + 2) % 3);
    wire.post({one, RailId(0), {}, true}, {}, {}, false, 0);
    wire.post({other, RailId(1), {}, true}, {}, {}, false, 0);
    wire.post({other, RailId(0), {}, false}, {}, {}, false, 0);
    wire.post({one, RailId(1), {}, true}, {}, {}, false, 0);
    int frames = 0;
    for (Completion in; frames < 4; wire.wait(wire.now() + Duration::ms(10))) {
      while (wire.poll(in)) frames += in.kind == Completion::Kind::frame ? 1 : 0;
    }
  });
}

// A socket with nothing to send has room all the time: a waiting rank would never sleep.
TEST_P(RailsWorkers, WatchNothingForRoomInTheEnd) {
  run_job(2, two_rails, [&](Wire& wire) {
    mp::Options options = measured();
    options.eager_limit = Bytes{1 << 20};
    options.credit = Bytes{4 << 20};
    mp::Messenger m(wire.fabric(), options);
    std::vector<std::byte> data(600'000);
    for (int round = 0; round < 10; ++round) {
      // A rank that does not read fills the other's socket, which is then given more room.
      if (wire.self().index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const auto finish = [&](mp::Request* request) {
        m.wait(request);
        m.release(request);
      };
      mp::Sending sending;
      sending.to = RankId(1 - wire.self().index);
      sending.data = data.data();
      mp::Receiving receiving;
      receiving.data = data.data();
      receiving.size = data.size();
      if (wire.self().index == 0) {
        sending.size = data.size();
        finish(m.send(sending));
        finish(m.receive(receiving));
        EXPECT_EQ(watched_for_room(), 0) << "message " << round;
      } else {
        finish(m.receive(receiving));
        finish(m.send(sending));  // All of it is here.
      }
    }
    while (!m.quiet()) m.progress();
  });
}

TEST_P(RailsWorkers, LoseNothingWhenConnectionsBreak) {
  // What takes longer is broken more often, and takes longer still.
  const std::uint64_t messages = GetParam() == launch::Protect::off ? 300 : 150;
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ConnectionBreaker breaker(seed);
    run_job(3, two_rails, [&](Wire& wire) { talk(wire, measured(), messages, 2'000'000); });
    broken += breaker.broken();
  }
  EXPECT_GT(broken, 5);
}

// A process that does not call in for long is busy, not lost.
TEST_P(RailsWorkers, DoNotLoseABusyPeer) {
  one_rail.lost_after = Duration::ms(1000);
  run_job(2, one_rail, [](Wire& wire) {
    if (wire.self().index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(3000));
    talk(wire, measured(), 20, 100'000);
  });
}

// A rank that waits for long is woken by what comes, hardly ever by the clock: hundreds of ranks
// may wait on a few cores.
TEST_P(RailsWorkers, LetSleepWhoWaitsForLong) {
  run_job(2, two_rails, [](Wire& wire) {
    talk(wire, measured(), 5, 1000);  // All rails are up.
    const mp::Options options = measured();
    mp::Messenger m(wire.fabric(), options);
    rusage before = {}, after = {};
    int word = 0;
    // The first wait is for the rails to settle; on a busy machine that may take until the third.
    long least = 1000;
    for (int round = 0; round < 3; ++round) {
      if (wire.self().index == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1000));
        mp::Sending sending;
        sending.to = RankId(1);
        sending.data = &word;
        sending.size = sizeof word;
        m.release(m.send(sending));
        while (!m.quiet()) m.progress();
        continue;
      }
      ::getrusage(RUSAGE_THREAD, &before);
      mp::Receiving receiving;
      receiving.data = &word;
      receiving.size = sizeof word;
      mp::Request* const request = m.receive(receiving);
      m.wait(request);
      m.release(request);
      ::getrusage(RUSAGE_THREAD, &after);
      least = std::min(least, after.ru_nvcsw - before.ru_nvcsw);
    }
    if (wire.self().index == 1) {
      EXPECT_LT(least, 50);
    }
  });
}

// With one rail there is a time without any; frames wait for it to come back.
TEST_P(RailsWorkers, ComeBackWhereThereIsOne) {
  const ConnectionBreaker breaker(9);
  run_job(2, one_rail, [](Wire& wire) { talk(wire, measured(), 300, 500'000); });
}

// Connections are let go of and opened again; each time all that was said before arrives.
TEST_P(RailsWorkers, PartAndMeetAgain) {
  run_job(2, one_rail, [&](Wire& wire) {
    const mp::Options options;
    mp::Messenger m(wire.fabric(), options);
    const std::uint32_t self = wire.self().index;
    const RankId other(1 - self);
    EXPECT_TRUE(wire.needs_connection(other));
    for (int round = 0; round < 20; ++round) {
      std::vector<int> out(5000, 1000 * round + static_cast<int>(self)), in(5000);
      mp::Receiving receiving;
      receiving.data = in.data();
      receiving.size = in.size() * sizeof(int);
      mp::Sending sending;
      sending.to = other;
      sending.data = out.data();
      sending.size = out.size() * sizeof(int);
      mp::Request* const receive = m.receive(receiving);
      mp::Request* const send = m.send(sending);
      m.wait(receive);
      m.wait(send);
      EXPECT_EQ(in[4999], 1000 * round + static_cast<int>(other.index));
      m.release(receive);
      m.release(send);
      EXPECT_TRUE(wire.connected(other));
      if (round % 3 == 2) continue;  // Not always.
      wire.disconnect(other);
      // Now and then at once, while the old connection is on its way out.
      for (int i = 0; i < round % 4; ++i) {
        wire.wait(wire.now() + Duration::ms(1));
        m.progress();
      }
    }
    wire.disconnect(other);
    for (int i = 0; i < 5000 && wire.connected(other); ++i) {
      wire.wait(wire.now() + Duration::ms(1));
      m.progress();
    }
    EXPECT_FALSE(wire.connected(other));
    EXPECT_TRUE(m.lost().empty());
  });
}

// One of two ranks whose network is looked after only when it is this rank's turn.
struct Turn {
  Wire& wire;
  int frames = 0;
  bool parted = false;  // The message layer could see that there was no connection.

  RankId peer() const { return RankId(1 - wire.self().index); }
  void post() { wire.post({peer(), RailId(0), {}, false}, {}, {}, false, 0); }
  void take() {
    for (Completion in; wire.poll(in);) {
      parted = parted || !wire.connected(peer());
      frames += in.kind == Completion::Kind::frame ? 1 : 0;
    }
    parted = parted || !wire.connected(peer());
    wire.wait(wire.now() + Duration::ms(1));
  }
};

// A rank that was busy finds the end of a connection and the call for the next at the same time.
TEST(WireWorkers, ACallDoesNotOvertakeTheConnectionBeforeIt) {
  launch::Settings settings;
  settings.shared_memory = false;
  settings.rails = {"127.0.0.1"};
  MeetingPlace table(2);
  ThreadSeat near_seat(table, 0, 2, settings), far_seat(table, 1, 2, settings);
  std::unique_ptr<Wire> near, far;
  std::thread other([&] { far = Wire::join(far_seat).value(); });
  near = Wire::join(near_seat).value();
  other.join();
  // Either rank is the busy one: the lower rank's connections have precedence.
  for (auto& [quick, busy] : {std::pair(near.get(), far.get()), {far.get(), near.get()}}) {
    Turn first{*quick}, second{*busy};
    const Time limit = quick->now() + Duration::ms(20'000);
    first.post();
    for (; second.frames == 0 && quick->now() < limit; second.take()) first.take();
    quick->disconnect(first.peer());
    busy->disconnect(second.peer());
    while (quick->connected(first.peer()) && quick->now() < limit) first.take();
    first.post();
    for (int i = 0; i < 200; ++i) first.take();  // Calls again, and proves itself.
    second.frames = 0;
    second.parted = false;
    for (; second.frames == 0 && quick->now() < limit; first.take()) second.take();
    EXPECT_EQ(second.frames, 1);
    EXPECT_TRUE(second.parted) << "the old connection never ended";
  }
}

}  // namespace
}  // namespace weft::wire
