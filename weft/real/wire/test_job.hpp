// SPDX-License-Identifier: Apache-2.0
// For tests: a whole job inside one process, a thread for each rank.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <weft/base/rng.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/real/launch/seat.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {

// Where the ranks meet.
class MeetingPlace {
 public:
  explicit MeetingPlace(std::uint32_t ranks) : cards_(ranks) {}

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

class ThreadSeat final : public launch::Seat {
 public:
  ThreadSeat(MeetingPlace& table, std::uint32_t self, std::uint32_t ranks,
             const launch::Settings& settings)
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
  MeetingPlace& table_;
  std::uint32_t self_, ranks_;
  launch::Settings settings_;
  launch::Secret secret_{};
};

// Looks after the network until all ranks have come here: when a connection breaks, one that left
// could not take what has to be sent again.
inline void stay_until_all_are_done(Wire& wire, const std::atomic<std::uint32_t>& busy) {
  for (Completion ignored; busy > 0; wire.wait(wire.now() + Duration::ms(1))) {
    while (wire.poll(ignored)) {
    }
  }
}

inline void run_job(std::uint32_t ranks, const launch::Settings& settings,
                    const std::function<void(Wire&)>& body) {
  MeetingPlace table(ranks);
  std::atomic<std::uint32_t> busy = ranks;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    threads.emplace_back([&, i] {
      ThreadSeat seat(table, i, ranks, settings);
      auto wire = Wire::join(seat);
      if (wire) body(**wire);
      --busy;
      ASSERT_TRUE(wire) << wire.error().text();
      stay_until_all_are_done(**wire, busy);
      (*wire)->leave(Duration::ms(5000));
      table.exchange(i, "");  // Others may still be at it.
    });
  }
  for (std::thread& thread : threads) thread.join();
}

inline std::byte byte_at(std::uint64_t message, std::size_t i) {
  return static_cast<std::byte>((message * 0x9e3779b97f4a7c15u >> 32) + i * 13);
}

// All ranks send each other `messages` messages, sizes around every limit, some in flight at once;
// all bytes are looked at.
inline void talk(Wire& wire, const mp::Options& options, std::uint64_t messages,
                 std::size_t largest) {
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
    for (std::uint32_t i = 0; one.request->failed && i < ranks; ++i) {
      if (i != self) ADD_FAILURE() << "rank " << i << ": " << wire.trouble_with(RankId(i));
    }
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

inline mp::Options measured() {
  mp::Options options;
  options.split = mp::Split::measured;
  return options;
}

// Breaks connections of this process at random, as long as it lives. Those that were there before,
// such as its standard output, are left alone.
class ConnectionBreaker {
 public:
  explicit ConnectionBreaker(std::uint64_t seed)
      : random_(seed), others_(connections()), thread_([this] { run(); }) {}
  ~ConnectionBreaker() {
    stop();
    thread_.join();
  }
  void stop() { end_ = true; }
  int broken() const { return broken_; }

 private:
  void run() {
    for (std::uint64_t i = 0; !end_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random_.at(2 * i) % 30));
      if (end_) return;
      std::vector<int> sockets = connections();
      std::erase_if(sockets, [&](int one) {
        return std::find(others_.begin(), others_.end(), one) != others_.end();
      });
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
      if (name.ss_family == AF_INET || name.ss_family == AF_UNIX) found.push_back(descriptor);
    }
    ::closedir(folder);
    return found;
  }

  Rng random_;
  std::vector<int> others_;
  std::atomic<bool> end_ = false;
  std::atomic<int> broken_ = 0;
  std::thread thread_;
};

}  // namespace weft::wire
