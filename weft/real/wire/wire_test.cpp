// SPDX-License-Identifier: Apache-2.0
// Whole jobs inside one process, a thread for each rank, over real sockets and shared memory.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <weft/base/rng.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {
namespace {

// Where the ranks meet.
class Table {
 public:
  explicit Table(std::uint32_t ranks) : cards_(ranks) {}

  std::vector<std::string> exchange(std::uint32_t rank, const std::string& card) {
    std::unique_lock lock(mutex_);
    cards_[rank] = card;
    const std::uint64_t round = round_;
    if (++come_ == cards_.size()) {
      come_ = 0;
      shown_ = cards_;
      ++round_;
      all_.notify_all();
    }
    all_.wait(lock, [&] { return round_ != round; });
    return shown_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  std::vector<std::string> cards_, shown_;
  std::size_t come_ = 0;
  std::uint64_t round_ = 0;
};

class Chair final : public launch::Seat {
 public:
  Chair(Table& table, std::uint32_t self, std::uint32_t ranks, const launch::Settings& settings)
      : table_(table), self_(self), ranks_(ranks), settings_(settings) {
    secret_.fill(std::byte{42});
  }
  std::uint32_t self() const override { return self_; }
  std::uint32_t ranks() const override { return ranks_; }
  const launch::Secret& secret() const override { return secret_; }
  const launch::Settings& settings() const override { return settings_; }
  Result<std::vector<std::string>> exchange(const std::string& card) override {
    return table_.exchange(self_, card);
  }
  int descriptor() const override { return -1; }
  bool next_notice(launch::Notice&) override { return false; }
  void leave() override {}
  [[noreturn]] void abort(int, const std::string& message) override {
    std::fprintf(stderr, "abort: %s\n", message.c_str());
    std::abort();
  }

 private:
  Table& table_;
  std::uint32_t self_, ranks_;
  launch::Settings settings_;
  launch::Secret secret_{};
};

void run_job(std::uint32_t ranks, const launch::Settings& settings,
             const std::function<void(Wire&)>& body) {
  Table table(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    threads.emplace_back([&, i] {
      Chair chair(table, i, ranks, settings);
      auto wire = Wire::join(chair);
      ASSERT_TRUE(wire) << wire.error().text();
      body(**wire);
      (*wire)->leave(Duration::ms(5000));
      table.exchange(i, "");  // Others may still be at it.
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::byte byte_at(std::uint64_t message, std::size_t i) {
  return static_cast<std::byte>((message * 0x9e3779b97f4a7c15u >> 32) + i * 13);
}

// Everybody sends everybody so many messages, sizes around every limit, some in flight at once; all
// bytes are looked at.
void talk(Wire& wire, const mp::Options& options, std::uint64_t messages, std::size_t largest) {
  mp::Messenger m(wire.fabric(), options);
  const Rng random(5);
  const auto size_of = [&](std::uint64_t i) {
    const std::uint64_t draw = random.at(i);
    return draw % (draw % 7 == 0 ? largest : draw % 3 == 0 ? 40'000 : 500);
  };
  const std::uint32_t ranks = wire.ranks(), self = wire.self().index;
  struct Open {
    std::vector<std::byte> data;
    mp::Request* request = nullptr;
    std::uint64_t message = 0;
    bool receives = false;
  };
  std::vector<Open> open(std::size_t{ranks} * 2 * 4);
  const auto finish = [&](Open& one) {
    if (one.request == nullptr) return;
    m.wait(one.request);
    ASSERT_TRUE(one.request->done);
    EXPECT_FALSE(one.request->failed);
    m.release(one.request);
    one.request = nullptr;
    if (!one.receives) return;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < one.data.size(); ++i) {
      wrong += one.data[i] != byte_at(one.message, i);
    }
    ASSERT_EQ(wrong, 0u) << "message " << one.message << " of " << one.data.size() << " bytes";
  };
  for (std::uint64_t i = 0; i < messages; ++i) {
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      Open& in = open[(i % 4 * ranks + peer) * 2];
      finish(in);
      in = {};
      in.receives = true;
      in.message = (std::uint64_t{peer} << 40) + (std::uint64_t{self} << 20) + i;
      in.data.resize(size_of(in.message));
      mp::Receiving receiving;
      receiving.source = static_cast<int>(peer);
      receiving.from = RankId(peer);
      receiving.tag = static_cast<int>(i % 3);
      receiving.data = in.data.data();
      receiving.size = in.data.size();
      in.request = m.receive(receiving);
      Open& out = open[(i % 4 * ranks + peer) * 2 + 1];
      finish(out);
      out = {};
      out.message = (std::uint64_t{self} << 40) + (std::uint64_t{peer} << 20) + i;
      out.data.resize(size_of(out.message));
      for (std::size_t b = 0; b < out.data.size(); ++b) out.data[b] = byte_at(out.message, b);
      mp::Sending sending;
      sending.to = RankId(peer);
      sending.source = static_cast<int>(self);
      sending.tag = static_cast<int>(i % 3);
      sending.data = out.data.data();
      sending.size = out.data.size();
      sending.synchronous = i % 5 == 0;
      out.request = m.send(sending);
    }
  }
  for (Open& one : open) finish(one);
  while (!m.quiet()) m.progress();
}

mp::Options measured() {
  mp::Options options;
  options.split = mp::Split::measured;
  return options;
}

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

launch::Settings two_rails() {
  launch::Settings settings;
  settings.shared_memory = false;
  settings.rails = {"127.0.0.1", "127.0.0.2"};
  return settings;
}

TEST(WireWorkers, RailsCarryEveryByte) {
  launch::Settings settings;
  settings.shared_memory = false;
  run_job(3, settings, [](Wire& wire) {
    talk(wire, measured(), 100, 1'000'000);
    EXPECT_EQ(wire.rail_count(RankId(wire.self().index == 0 ? 1 : 0)), 1);
  });
  run_job(3, two_rails(), [](Wire& wire) {
    talk(wire, measured(), 100, 1'000'000);
    EXPECT_EQ(wire.rail_count(RankId(wire.self().index == 0 ? 1 : 0)), 2);
  });
  mp::Options ahead = measured();
  ahead.head_start = Bytes{65536};
  ahead.credit = Bytes{262144};
  run_job(3, two_rails(), [&](Wire& wire) { talk(wire, ahead, 300, 200'000); });
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
TEST(WireWorkers, AFrameThatWaitsForAnotherGoesInTheEnd) {
  run_job(3, two_rails(), [](Wire& wire) {
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

// A socket with nothing to send has room all the time: whoever waits would never sleep.
TEST(WireWorkers, NothingIsWatchedForRoomInTheEnd) {
  run_job(2, two_rails(), [&](Wire& wire) {
    mp::Options options = measured();
    options.eager_limit = Bytes{1 << 20};
    options.credit = Bytes{4 << 20};
    mp::Messenger m(wire.fabric(), options);
    std::vector<std::byte> data(600'000);
    for (int round = 0; round < 10; ++round) {
      // Who does not read fills the other's socket, which is then given more room.
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

// Breaks connections of this process at random, as long as it lives.
class Breaker {
 public:
  explicit Breaker(std::uint64_t seed) : random_(seed), thread_([this] { run(); }) {}
  ~Breaker() {
    end_ = true;
    thread_.join();
  }
  int broken() const { return broken_; }

 private:
  void run() {
    for (std::uint64_t i = 0; !end_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random_.at(2 * i) % 30));
      const std::vector<int> sockets = connections();
      if (sockets.empty()) continue;
      const int chosen = sockets[random_.at(2 * i + 1) % sockets.size()];
      if (::shutdown(chosen, SHUT_RDWR) == 0) ++broken_;
    }
  }
  static std::vector<int> connections() {
    std::vector<int> found;
    DIR* const folder = ::opendir("/proc/self/fd");
    while (const dirent* const entry = ::readdir(folder)) {
      const int descriptor = std::atoi(entry->d_name);
      sockaddr_storage name = {};
      socklen_t size = sizeof name;
      if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&name), &size) != 0) continue;
      if (name.ss_family == AF_INET) found.push_back(descriptor);
    }
    ::closedir(folder);
    return found;
  }

  Rng random_;
  std::atomic<bool> end_ = false;
  std::atomic<int> broken_ = 0;
  std::thread thread_;
};

TEST(WireWorkers, NothingIsLostWhenConnectionsBreak) {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Breaker breaker(seed);
    run_job(3, two_rails(), [](Wire& wire) { talk(wire, measured(), 300, 2'000'000); });
    broken += breaker.broken();
  }
  EXPECT_GT(broken, 5);
}

// A process that does not call in for long is busy, not lost.
TEST(WireWorkers, ABusyPeerIsNotLost) {
  launch::Settings settings;
  settings.shared_memory = false;
  settings.lost_after = Duration::ms(1000);
  run_job(2, settings, [](Wire& wire) {
    if (wire.self().index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(3000));
    talk(wire, measured(), 20, 100'000);
  });
}

// Who waits for long is woken by what comes, hardly ever by the clock: hundreds of ranks may wait
// on a few cores.
TEST(WireWorkers, WhoWaitsForLongSleeps) {
  run_job(2, two_rails(), [](Wire& wire) {
    talk(wire, measured(), 5, 1000);  // All rails are up.
    const mp::Options options = measured();
    mp::Messenger m(wire.fabric(), options);
    rusage before = {}, after = {};
    int word = 0;
    // The first wait is for the rails to settle.
    for (int round = 0; round < 2; ++round) {
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
    }
    EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 50);
  });
}

// With one rail there is a time without any; frames wait for it to come back.
TEST(WireWorkers, TheOnlyRailComesBack) {
  launch::Settings settings;
  settings.shared_memory = false;
  const Breaker breaker(9);
  run_job(2, settings, [](Wire& wire) { talk(wire, measured(), 300, 500'000); });
}

// Connections are let go of and opened again; each time all that was said before arrives.
TEST(WireWorkers, PartsAndMeetsAgain) {
  launch::Settings settings;
  settings.shared_memory = false;
  run_job(2, settings, [&](Wire& wire) {
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

}  // namespace
}  // namespace weft::wire
