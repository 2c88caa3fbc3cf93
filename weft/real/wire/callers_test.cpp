// SPDX-License-Identifier: Apache-2.0
// Who gets a place while it has not proved anything, and real callers at a real listener.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <weft/real/wire/callers.hpp>
#include <weft/real/wire/clock.hpp>

namespace weft::wire {
namespace {

const JobSecret secret = {std::byte{1}};

CallerPlaces::Origin origin(std::uint8_t last, bool known) {
  CallerPlaces::Origin made;
  made.address.bytes = {10, 0, 0, last};
  made.known = known;
  return made;
}

// Puts a caller where the rule says; returns the place that had to be left for it.
std::size_t enter(CallerPlaces& places, const CallerPlaces::Origin& from) {
  std::size_t leaves = CallerPlaces::none;
  const std::size_t place = places.find(from, leaves);
  if (leaves != CallerPlaces::none) {
    EXPECT_NE(places.remove(leaves), nullptr);
  }
  EXPECT_EQ(places.at(place), nullptr);
  places.put(place, std::make_unique<Caller>(Descriptor(), secret, Time()), from);
  return leaves;
}

TEST(CallerPlaces, AnUnknownAddressHasAFew) {
  CallerPlaces places(64);
  for (std::size_t i = 0; i < CallerPlaces::most_per_stranger; ++i) {
    EXPECT_EQ(enter(places, origin(1, false)), CallerPlaces::none);
  }
  EXPECT_EQ(enter(places, origin(1, false)), 0u);  // The oldest of its own.
  EXPECT_EQ(enter(places, origin(2, false)), CallerPlaces::none);
}

TEST(CallerPlaces, UnknownAddressesHaveHalfOfAll) {
  CallerPlaces places(16);
  EXPECT_EQ(enter(places, origin(200, true)), CallerPlaces::none);
  for (std::uint8_t i = 0; i < 8; ++i) {
    EXPECT_EQ(enter(places, origin(i, false)), CallerPlaces::none);
  }
  EXPECT_EQ(enter(places, origin(100, false)), 1u);
  EXPECT_EQ(places.count(), 9u);
}

TEST(CallerPlaces, StrangersLeaveFirst) {
  CallerPlaces places(4);
  for (int i = 0; i < 3; ++i) enter(places, origin(200, true));
  EXPECT_EQ(enter(places, origin(1, false)), CallerPlaces::none);
  EXPECT_EQ(enter(places, origin(200, true)), 3u);  // The stranger, though it came last.
  EXPECT_EQ(enter(places, origin(200, true)), 0u);  // Then the oldest.
  EXPECT_EQ(enter(places, origin(1, false)), 1u);
}

TEST(CallerPlaces, ThereIsAPlaceForWhoComesLast) {
  for (const std::size_t size : {1u, 2u, 3u, 256u}) {
    CallerPlaces places(size);
    for (std::uint32_t i = 0; i < 1000; ++i) {
      enter(places, origin(static_cast<std::uint8_t>(i % 251), i % 3 == 0));
      ASSERT_LE(places.count(), size);
    }
    while (places.oldest() != CallerPlaces::none) places.remove(places.oldest());
    EXPECT_EQ(places.count(), 0u);
  }
}

locality::Interface loopback() {
  locality::Interface interface;
  interface.name = "lo";
  interface.address.bytes = {127, 0, 0, 1};
  interface.loopback = true;
  return interface;
}

class Kind final : public RailKind {
 public:
  std::string place() const override { return {}; }
  std::string address() const override { return {}; }
  Status open(const Neighbourhood&) override { return {}; }
};

// A listening process that never looks at its descriptors unless told to.
class CallersWorkers : public testing::Test, public KindHost {
 protected:
  void open() {
    std::vector<Descriptor> listeners;
    listeners.push_back(listen_on(loopback()).value());
    port = port_of(listeners[0]).value();
    ASSERT_TRUE(callers.open(std::move(listeners), 7));
  }
  Descriptor call() const { return connect_from(loopback(), loopback().address, port).value(); }
  Dial dial(std::uint32_t from) const {
    return {call(), secret, {.from = from, .connection = from + 1}, now()};
  }
  // Goes on with the handshake up to the verdict; false: sent away.
  bool prove(Dial& dial) const {
    const Time limit = now() + Duration::ms(5000);
    while (now() < limit) {
      pollfd wait = {dial.socket().get(), static_cast<short>(dial.connecting() ? POLLOUT : POLLIN),
                     0};
      ::poll(&wait, 1, 10);
      if (dial.advance() != Step::wait) return false;
      if (dial.proving()) return true;
    }
    return false;
  }
  std::unique_ptr<Caller> wait_for_caller() {
    pollfd wait = {watched, POLLIN, 0};
    for (int i = 0; i < 500; ++i) {
      ::poll(&wait, 1, 10);
      if (auto caller = callers.next()) return caller;
    }
    return nullptr;
  }

  // KindHost
  Time now() const override { return real_now(); }
  void watch(const RailKind&, std::uint32_t token, int descriptor) override {
    EXPECT_EQ(token, 7u);
    watched = descriptor;
  }
  bool accept_calls() const override { return true; }
  void connect(RankId) override {}
  const Regions& regions() const override { return memory; }
  void tell(Completion&&) override {}
  void lose(RankId, const std::string&) override {}

  RegionTable table;
  Regions memory{table};
  Kind kind;
  int watched = -1;
  std::uint16_t port = 0;
  Callers callers{kind, *this, secret};
};

TEST_F(CallersWorkers, APeerIsHeardAmongStrangers) {
  open();
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 600; ++i) strangers.push_back(call());
  // A peer that is sent away before it could answer calls again.
  std::vector<Dial> calls;
  bool heard = false;
  for (int i = 0; i < 10 && !heard; ++i) {
    calls.push_back(dial(3));
    pollfd wait = {watched, POLLIN, 0};
    heard = prove(calls.back()) && ::poll(&wait, 1, 500) == 1;
  }
  ASSERT_TRUE(heard);
  for (int i = 0; i < 600; ++i) strangers.push_back(call());
  const auto caller = wait_for_caller();  // It has proved itself: nobody can displace it.
  ASSERT_NE(caller, nullptr);
  EXPECT_EQ(caller->claim().from, 3u);
  EXPECT_TRUE(caller->answer(Verdict::welcome));
}

TEST_F(CallersWorkers, WhoHasHungUpIsNotAnswered) {
  open();
  {
    Dial member = dial(3);
    ASSERT_TRUE(prove(member));
  }
  const auto caller = wait_for_caller();
  ASSERT_NE(caller, nullptr);
  EXPECT_FALSE(caller->answer(Verdict::welcome));
}

// A rank that computes for long does not collect calls that were given up.
TEST_F(CallersWorkers, ALaterCallReplacesTheOneBefore) {
  open();
  std::vector<Dial> members;
  for (const std::uint32_t from : {3u, 5u, 3u}) {
    members.push_back(dial(from));
    ASSERT_TRUE(prove(members.back()));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // They have proved themselves.
  const auto first = wait_for_caller();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->claim().from, 5u);
  const auto second = wait_for_caller();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->claim().from, 3u);
  EXPECT_TRUE(second->answer(Verdict::welcome));
  EXPECT_EQ(callers.next(), nullptr);
}

TEST_F(CallersWorkers, NonsenseIsSentAway) {
  open();
  const Descriptor stranger = call();
  pollfd wait = {stranger.get(), POLLOUT, 0};
  ASSERT_EQ(::poll(&wait, 1, 1000), 1);
  const std::vector<std::byte> nonsense(answer_size, std::byte{9});
  ASSERT_EQ(::send(stranger.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(nonsense.size()));
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    std::byte room[64];
    wait = {stranger.get(), POLLIN, 0};
    ::poll(&wait, 1, 10);
    const ssize_t got = ::recv(stranger.get(), room, sizeof room, MSG_DONTWAIT);
    gone = got == 0 || (got < 0 && errno != EAGAIN);
  }
  EXPECT_TRUE(gone);
  EXPECT_EQ(callers.next(), nullptr);
}

TEST_F(CallersWorkers, EndsWithCallersAtTheDoor) {
  open();
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 50; ++i) strangers.push_back(call());
  Dial member = dial(3);
  ASSERT_TRUE(prove(member));
  callers.close();
  EXPECT_EQ(callers.places(), 0u);
}

}  // namespace
}  // namespace weft::wire
