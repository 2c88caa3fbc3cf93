// SPDX-License-Identifier: Apache-2.0
// Processes that start at different times, and then meet.
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <weft/real/wire/test_job.hpp>

namespace weft::wire {
namespace {

// What all have told, by rank and round.
struct Book {
  std::mutex mutex;
  std::array<std::array<std::string, 2>, 4> texts;
  std::atomic<int> joined = 0, done = 0;
};

class WorldSeat final : public launch::Seat {
 public:
  WorldSeat(Book& book, MeetingPlace& table, std::uint32_t self, const launch::Settings& settings)
      : book_(book), table_(table), self_(self), settings_(settings) {
    secret_.fill(std::byte{42});
  }
  std::uint32_t self() const override { return self_; }
  std::uint32_t ranks() const override { return 2; }
  launch::Birth birth() const override {
    launch::Birth birth;
    birth.first = self_ / 2 * 2;
    birth.spans_hosts = !settings_.shared_memory;
    return birth;
  }
  const launch::Secret& secret() const override { return secret_; }
  const launch::Settings& settings() const override { return settings_; }
  Result<std::vector<std::string>> exchange(const std::string& card) override {
    {
      const std::lock_guard<std::mutex> lock(book_.mutex);
      book_.texts[self_][round_++] = card;
    }
    return table_.exchange(self_ % 2, card);
  }
  int descriptor() const override { return -1; }
  bool next_notice(launch::Notice&) override { return false; }
  void leave() override {}
  [[noreturn]] void abort(int, const std::string&) override { std::abort(); }

 private:
  Book& book_;
  MeetingPlace& table_;
  std::uint32_t self_;
  launch::Settings settings_;
  launch::Secret secret_{};
  std::size_t round_ = 0;
};

// Looks after the network until all have come here.
void stay(std::atomic<int>& count, Wire& wire) {
  ++count;
  Completion ignored;
  while (count < 4) {
    while (wire.poll(ignored)) {
    }
    wire.wait(wire.now() + Duration::ms(1));
  }
}

void meet_others(Wire& wire, Book& book) {
  const std::uint32_t own_world = wire.self().index / 2;
  const std::lock_guard<std::mutex> lock(book.mutex);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    if (rank / 2 == own_world) continue;
    EXPECT_FALSE(wire.knows(RankId(rank)));
    const Status met = wire.meet({RankId(rank), book.texts[rank][0], book.texts[rank][1], false});
    ASSERT_TRUE(met) << met.error().text();
    EXPECT_TRUE(wire.knows(RankId(rank)));
  }
}

// Everybody sends to everybody; the first world knows the second earlier than the other way round.
void swap_messages(Wire& wire, Book& book, std::size_t size) {
  mp::Options options;
  options.split = mp::Split::measured;
  mp::Messenger m(wire.fabric(), options);
  const std::uint32_t self = wire.self().index;
  if (self >= 2) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  meet_others(wire, book);
  std::array<std::vector<std::byte>, 4> in, out;
  std::vector<mp::Request*> requests;
  for (std::uint32_t peer = 0; peer < 4; ++peer) {
    in[peer].resize(size);
    for (std::size_t i = 0; i < size; ++i) out[peer].push_back(byte_at(self, i));
    mp::Receiving receiving;
    receiving.source = static_cast<int>(peer);
    receiving.from = RankId(peer);
    receiving.data = in[peer].data();
    receiving.size = size;
    requests.push_back(m.receive(receiving));
    mp::Sending sending;
    sending.to = RankId(peer);
    sending.source = static_cast<int>(self);
    sending.data = out[peer].data();
    sending.size = size;
    requests.push_back(m.send(sending));
  }
  for (mp::Request* const request : requests) {
    while (!request->done) m.wait(request);
    EXPECT_FALSE(request->failed);
    m.release(request);
  }
  for (std::uint32_t peer = 0; peer < 4; ++peer) {
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(in[peer][i], byte_at(peer, i)) << "from rank " << peer << ", byte " << i;
    }
  }
  stay(book.done, wire);
}

void run_two_worlds(const launch::Settings& settings, std::size_t size) {
  Book book;
  std::array<MeetingPlace, 2> tables{MeetingPlace(2), MeetingPlace(2)};
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < 4; ++self) {
    threads.emplace_back([&, self] {
      WorldSeat seat(book, tables[self / 2], self, settings);
      auto wire = Wire::join(seat);
      ASSERT_TRUE(wire) << wire.error().text();
      EXPECT_EQ((*wire)->first(), self / 2 * 2);
      EXPECT_EQ((*wire)->ranks(), 2U);
      for (++book.joined; book.joined < 4;) std::this_thread::yield();
      swap_messages(**wire, book, size);
      (*wire)->leave(Duration::ms(5000));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Growth, ReachesLaterProcessesOverSharedMemory) {
  for (const std::size_t size : {10UL, 5000UL, 2000000UL}) run_two_worlds({}, size);
}

TEST(Growth, ReachesThemWithoutSingleCopies) {
  launch::Settings settings;
  settings.single_copy = false;
  run_two_worlds(settings, 2000000);
}

TEST(Growth, ReachesThemOverTcp) {
  launch::Settings settings;
  settings.shared_memory = false;
  settings.rails = {"127.0.0.1"};
  for (const launch::Protect protect : {launch::Protect::off, launch::Protect::all}) {
    settings.protect = protect;
    for (const std::size_t size : {10UL, 2000000UL}) run_two_worlds(settings, size);
  }
}

TEST(Growth, KnowsWhoIsGone) {
  Book book;
  MeetingPlace table(2), other(2);
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < 2; ++self) {
    threads.emplace_back([&, self] {
      WorldSeat seat(book, table, self, {});
      auto wire = Wire::join(seat);
      ASSERT_TRUE(wire) << wire.error().text();
      const auto& told = book.texts[self];
      ASSERT_TRUE((*wire)->meet({RankId(3), told[0], told[1], true}));
      EXPECT_FALSE((*wire)->meet({RankId(2), "nonsense", told[1], false}));
      Completion event;
      ASSERT_TRUE((*wire)->poll(event));
      EXPECT_EQ(event.kind, Completion::Kind::peer_lost);
      EXPECT_EQ(event.peer, RankId(3));
      EXPECT_FALSE((*wire)->trouble_with(RankId(3)).empty());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::wire
