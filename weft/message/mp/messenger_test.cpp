// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/task.hpp>
#include <weft/message/testnet/testnet.hpp>

namespace weft::mp {
namespace {

std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>((seed * 31 + i) & 0xff);
  return data;
}

Sending to(std::uint32_t rank, int source, int tag, const std::vector<std::byte>& data) {
  Sending s;
  s.to = RankId(rank);
  s.source = source;
  s.tag = tag;
  s.data = data.data();
  s.size = data.size();
  return s;
}

Receiving from(int source, int tag, std::vector<std::byte>& room) {
  Receiving r;
  r.source = source;
  r.tag = tag;
  r.data = room.data();
  r.size = room.size();
  return r;
}

Arrival finish(Messenger& m, Request* request) {
  m.wait(request);
  const Arrival arrival = request->arrival;
  m.release(request);
  return arrival;
}

struct Net {
  std::uint64_t seed;
  int rails;
  bool ordered;
  int unsent_percent = 0;
  std::int64_t head_start = 0;
};

class OnAnyNetwork : public testing::TestWithParam<Net> {
 protected:
  TestnetOptions options() const {
    TestnetOptions o;
    o.seed = GetParam().seed;
    o.rails = GetParam().rails;
    o.ordered = GetParam().ordered;
    o.unsent_percent = GetParam().unsent_percent;
    return o;
  }
  Split split() const {
    if (GetParam().head_start > 0) return Split::measured;
    constexpr Split all[] = {Split::measured, Split::proportional, Split::equal};
    return all[GetParam().seed % std::size(all)];
  }
  Bytes head_start() const { return Bytes{GetParam().head_start}; }
  // No message goes as a whole before its receiver has answered.
  Options taking_back() const {
    const std::int64_t ahead = std::min<std::int64_t>(GetParam().head_start, 2000);
    return {.eager_limit = Bytes{50},
            .head_start = Bytes{ahead},
            .stripe_min = Bytes{100},
            .split = split()};
  }
};

// Everyone sends to everyone, all sizes around the limits; every byte arrives where it should.
TEST_P(OnAnyNetwork, CarriesEveryByte) {
  const Options settings{.eager_limit = Bytes{1000},
                         .head_start = head_start(),
                         .stripe_min = Bytes{100},
                         .split = split()};
  const std::vector<std::size_t> sizes = {0, 1, 999, 1000, 1001, 5000, 12345};
  const std::uint32_t ranks = 4;
  const Status status = run_on_testnet(ranks, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    const int me = static_cast<int>(fabric.self.index);
    std::vector<Request*> requests;
    std::vector<std::vector<std::byte>> rooms, sent;
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        rooms.push_back(std::vector<std::byte>(sizes[k] + 5));
        requests.push_back(
            m.receive(from(static_cast<int>(peer), static_cast<int>(k), rooms.back())));
      }
    }
    const std::size_t receives = requests.size();
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        sent.push_back(pattern(sizes[k], 100 * static_cast<unsigned>(me) + k));
        requests.push_back(m.send(to(peer, me, static_cast<int>(k), sent.back())));
      }
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Arrival arrival = finish(m, requests[i]);
      if (i >= receives) continue;
      const std::size_t peer = i / sizes.size(), k = i % sizes.size();
      EXPECT_EQ(arrival.source, static_cast<int>(peer));
      ASSERT_EQ(arrival.size, sizes[k]);
      const std::vector<std::byte> expected = pattern(sizes[k], 100 * peer + k);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), rooms[i].begin()));
    }
    EXPECT_TRUE(m.quiet());
  });
  EXPECT_TRUE(status) << status.error().text();
}

// Messages that a receive could take either of come in the order they were sent, large or small,
// posted before or after their arrival, by wildcard or not.
TEST_P(OnAnyNetwork, KeepsTheOrderOfSending) {
  const Options settings{
      .eager_limit = Bytes{64}, .stripe_min = Bytes{16}, .split = split(), .credit = Bytes{2000}};
  const int messages = 60;
  const Status status = run_on_testnet(3, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    const Rng random(GetParam().seed);
    const int me = static_cast<int>(fabric.self.index);
    if (me > 0) {
      std::vector<std::vector<std::byte>> data;
      std::vector<Request*> requests;
      for (int i = 0; i < messages; ++i) {
        const auto size = static_cast<std::size_t>(8 + random.at(static_cast<unsigned>(i)) % 120);
        data.push_back(std::vector<std::byte>(size));
        std::memcpy(data.back().data(), &i, sizeof i);
        requests.push_back(m.send(to(0, me, i % 2, data.back())));
      }
      for (Request* request : requests) finish(m, request);
      return;
    }
    std::vector<std::vector<int>> last(3, std::vector<int>(2, -1));
    for (int i = 0; i < 2 * messages; ++i) {
      std::vector<std::byte> room(128);
      const Arrival arrival = finish(m, m.receive(from(any_source, any_tag, room)));
      int number = 0;
      std::memcpy(&number, room.data(), sizeof number);
      int& before =
          last[static_cast<std::size_t>(arrival.source)][static_cast<std::size_t>(arrival.tag)];
      EXPECT_EQ(number % 2, arrival.tag);
      EXPECT_GT(number, before);
      before = number;
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

// Receives posted first match first, whether they name the source or not.
TEST_P(OnAnyNetwork, MatchesReceivesInTheOrderOfPosting) {
  const Options settings{.split = split()};
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    if (fabric.self.index == 1) {
      std::vector<std::byte> go(1);
      finish(m, m.receive(from(0, 9, go)));
      for (int i = 0; i < 6; ++i)
        finish(m, m.send(to(0, 1, 5, pattern(10, static_cast<unsigned>(i)))));
      return;
    }
    std::vector<std::vector<std::byte>> rooms(6, std::vector<std::byte>(10));
    std::vector<Request*> requests;
    for (std::size_t i = 0; i < 6; ++i) {
      const int source = i % 2 == 0 ? any_source : 1;
      const int tag = i % 3 == 0 ? any_tag : 5;
      requests.push_back(m.receive(from(source, tag, rooms[i])));
    }
    finish(m, m.send(to(1, 0, 9, pattern(1, 0))));
    for (std::size_t i = 0; i < 6; ++i) {
      finish(m, requests[i]);
      EXPECT_EQ(rooms[i], pattern(10, i)) << i;
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST_P(OnAnyNetwork, SynchronousSendsWaitForTheirReceivers) {
  const Options settings{.split = split()};
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    std::vector<std::byte> room(4);
    if (fabric.self.index == 0) {
      const std::vector<std::byte> data = pattern(4, 1);
      Sending sending = to(1, 0, 1, data);
      sending.synchronous = true;
      Request* const sync = m.send(sending);
      finish(m, m.receive(from(1, 2, room)));  // Sent before the other side receives.
      EXPECT_FALSE(sync->done);
      finish(m, m.send(to(1, 0, 3, data)));
      finish(m, sync);
    } else {
      finish(m, m.send(to(0, 1, 2, pattern(4, 2))));
      finish(m, m.receive(from(0, 3, room)));
      finish(m, m.receive(from(0, 1, room)));
      EXPECT_EQ(room, pattern(4, 1));
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST_P(OnAnyNetwork, TruncatesToTheRoom) {
  const Options settings{.eager_limit = Bytes{50}, .head_start = head_start(), .split = split()};
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    for (const std::size_t size : {std::size_t{40}, std::size_t{400}}) {
      if (fabric.self.index == 0) {
        finish(m, m.send(to(1, 0, 0, pattern(size, 7))));
        continue;
      }
      std::vector<std::byte> room(31);
      Receiving receiving = from(0, 0, room);
      receiving.size = 30;
      const Arrival arrival = finish(m, m.receive(receiving));
      EXPECT_TRUE(arrival.truncated);
      EXPECT_EQ(arrival.size, size);
      EXPECT_EQ(std::memcmp(room.data(), pattern(size, 7).data(), 30), 0);
      EXPECT_EQ(room[30], std::byte{0});
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST_P(OnAnyNetwork, CancelsWhatNobodyHasMatched) {
  const Options settings{.eager_limit = Bytes{50}, .split = split()};
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    std::vector<std::byte> room(400);
    if (fabric.self.index == 0) {
      Request* const receive = m.receive(from(1, 77, room));
      m.cancel(receive);
      EXPECT_TRUE(finish(m, receive).cancelled);
      const std::vector<std::byte> data = pattern(400, 1);
      Request* const unwanted = m.send(to(1, 0, 1, data));
      m.cancel(unwanted);
      EXPECT_TRUE(finish(m, unwanted).cancelled);
      Request* const wanted = m.send(to(1, 0, 2, data));
      while (!wanted->matched) {
        m.pause();
        m.progress();
      }
      m.cancel(wanted);
      EXPECT_FALSE(finish(m, wanted).cancelled);
      finish(m, m.send(to(1, 0, 3, data)));
    } else {
      finish(m, m.receive(from(0, 2, room)));
      // Tag 1 was sent before, but taken back.
      EXPECT_EQ(finish(m, m.receive(from(0, any_tag, room))).tag, 3);
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

// Cancelling needs nothing of the receiver, not even that it looks at its messages.
TEST_P(OnAnyNetwork, CancelsASendAtOnce) {
  const Options settings = taking_back();
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    if (fabric.self.index == 0) {
      std::vector<std::byte> data = pattern(4000, 1);
      Request* const unwanted = m.send(to(1, 0, 1, data));
      m.cancel(unwanted);
      EXPECT_TRUE(unwanted->done);
      EXPECT_TRUE(unwanted->arrival.cancelled);
      m.release(unwanted);
      std::fill(data.begin(), data.end(), std::byte{0xee});  // It is the program's again.
      Sending empty = to(1, 0, 2, {});
      empty.synchronous = true;
      Request* const sent = m.send(empty);
      m.cancel(sent);
      EXPECT_TRUE(sent->done);
      EXPECT_FALSE(sent->arrival.cancelled);
      m.release(sent);
      EXPECT_TRUE(m.quiet());
      data = pattern(4000, 3);
      finish(m, m.send(to(1, 0, 3, data)));
    } else {
      fabric.transport.wait(fabric.processor.now() + Duration::us(100));
      std::vector<std::byte> room(4000);
      EXPECT_EQ(finish(m, m.receive(from(0, any_tag, room))).tag, 2);
      EXPECT_EQ(finish(m, m.receive(from(0, any_tag, room))).tag, 3);
      EXPECT_EQ(room, pattern(4000, 3));
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

// Lets time pass without looking at what has come.
void look_away(const Fabric& fabric) {
  for (int i = 0; i < 1000; ++i) {
    fabric.transport.wait(fabric.processor.now() + Duration::us(1));
    fabric.processor.copy(nullptr, nullptr, 1000);
  }
}

// The receiver has matched the message, and its answer is under way: its receives take the next
// messages, in the order in which they were posted.
TEST_P(OnAnyNetwork, CancelsWhatAReceiveHasMatched) {
  const Options settings = taking_back();
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    if (fabric.self.index == 0) {
      const std::vector<std::byte> data = pattern(4000, 1), next = pattern(20, 2);
      Request* const unwanted = m.send(to(1, 0, 1, data));
      look_away(fabric);
      m.cancel(unwanted);
      EXPECT_TRUE(unwanted->done && unwanted->arrival.cancelled);
      m.release(unwanted);
      finish(m, m.send(to(1, 0, 2, next)));
      const std::vector<std::byte> last = pattern(3000, 3);
      finish(m, m.send(to(1, 0, 3, last)));
    } else {
      std::vector<std::byte> one(4000), two(4000), three(4000);
      Request* const other = m.receive(from(0, 9, three));  // Matches none of them.
      Request* const first =
          m.receive(from(GetParam().seed % 2 == 0 ? 0 : any_source, any_tag, one));
      Request* const second = m.receive(from(0, any_tag, two));
      EXPECT_EQ(finish(m, first).tag, 2);
      EXPECT_EQ(finish(m, second).tag, 3);
      two.resize(3000);
      EXPECT_EQ(two, pattern(3000, 3));
      m.cancel(other);
      EXPECT_TRUE(finish(m, other).cancelled);
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

// A message that was taken out of matching is nobody else's: its receive ends cancelled.
TEST_P(OnAnyNetwork, CancelsWhatWasTaken) {
  const Options settings = taking_back();
  for (const bool received : {false, true}) {
    const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
      Messenger m(fabric, settings);
      if (fabric.self.index == 0) {
        const std::vector<std::byte> data = pattern(4000, 1), next = pattern(20, 2);
        Request* const unwanted = m.send(to(1, 0, 1, data));
        look_away(fabric);
        m.cancel(unwanted);
        EXPECT_TRUE(finish(m, unwanted).cancelled);
        finish(m, m.send(to(1, 0, 2, next)));
      } else {
        std::vector<std::byte> room(4000), other(4000);
        UnexpectedRecord* record = nullptr;
        while ((record = m.take(0, 0, 1)) == nullptr) {
          m.pause();
          m.progress();
        }
        Request* const early = received ? m.receive_taken(record, from(0, 1, room)) : nullptr;
        EXPECT_EQ(finish(m, m.receive(from(0, any_tag, other))).tag, 2);
        const Arrival arrival =
            finish(m, received ? early : m.receive_taken(record, from(0, 1, room)));
        EXPECT_TRUE(arrival.cancelled);
        EXPECT_EQ(arrival.size, 0u);
        EXPECT_EQ(arrival.tag, 1);
      }
    });
    EXPECT_TRUE(status) << status.error().text();
  }
}

// Part of it may be on its way already: either it is taken back, or it comes.
TEST_P(OnAnyNetwork, CancelsAMessageWithAHeadStart) {
  const Options settings{.eager_limit = Bytes{50},
                         .head_start = Bytes{100},
                         .stripe_min = Bytes{16},
                         .split = Split::measured};
  bool cancelled = false, came = false;
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    const std::vector<std::byte> data = pattern(400, 1);
    if (fabric.self.index == 0) {
      Request* const unwanted = m.send(to(1, 0, 1, data));
      m.cancel(unwanted);
      cancelled = finish(m, unwanted).cancelled;
      finish(m, m.send(to(1, 0, 2, data)));
      return;
    }
    std::vector<std::byte> room(400);
    if (GetParam().seed % 2 == 0) {
      for (int i = 0; i < 40; ++i) {
        fabric.transport.wait(fabric.processor.now() + Duration::ps(1));
        m.progress();
      }
    }
    int tag = 0;
    do {
      tag = finish(m, m.receive(from(0, any_tag, room))).tag;
      came = came || tag == 1;
      EXPECT_EQ(room, data);
    } while (tag == 1);
  });
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_NE(cancelled, came);
}

TEST_P(OnAnyNetwork, ProbesAndTakes) {
  const Options settings{.eager_limit = Bytes{50}, .head_start = head_start(), .split = split()};
  const Status status = run_on_testnet(2, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    if (fabric.self.index == 0) {
      std::vector<std::vector<std::byte>> data = {pattern(20, 1), pattern(200, 2), pattern(30, 3)};
      std::vector<Request*> requests;
      for (const auto& d : data) requests.push_back(m.send(to(1, 0, 4, d)));
      for (Request* r : requests) finish(m, r);
      return;
    }
    std::optional<Arrival> seen;
    while (!(seen = m.probe(0, any_source, 4))) {
      m.pause();
      m.progress();
    }
    EXPECT_EQ(seen->size, 20u);
    UnexpectedRecord* const first = m.take(0, 0, 4);
    while (!(seen = m.probe(0, 0, any_tag))) {
      m.pause();
      m.progress();
    }
    EXPECT_EQ(seen->size, 200u);  // The taken one is out of sight.
    std::vector<std::byte> second(200), third(30), room(20);
    finish(m, m.receive(from(0, 4, second)));
    EXPECT_EQ(second, pattern(200, 2));
    finish(m, m.receive(from(0, 4, third)));
    EXPECT_EQ(m.taken(first).size, 20u);
    finish(m, m.receive_taken(first, from(0, 4, room)));
    EXPECT_EQ(room, pattern(20, 1));
  });
  EXPECT_TRUE(status) << status.error().text();
}

// A flood: 3 senders, 3000 messages each, and a receiver that looks away at first. What waits at
// the receiver stays within the credit; nothing is lost.
TEST_P(OnAnyNetwork, FloodsAreBounded) {
  const Options settings{.eager_limit = Bytes{1000}, .split = split(), .credit = Bytes{8192}};
  const int messages = 3000;
  TestnetOptions local = options();
  std::uint64_t unexpected_bytes = 0;
  const Status status = run_on_testnet(4, local, [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    const int me = static_cast<int>(fabric.self.index);
    if (me > 0) {
      const std::vector<std::byte> data = pattern(100, static_cast<unsigned>(me));
      for (int i = 0; i < messages; ++i) finish(m, m.send(to(0, me, 1, data)));
      finish(m, m.send(to(0, me, 2, data)));
      return;
    }
    std::vector<std::byte> room(100);
    for (int i = 0; i < 2000; ++i) {  // Looks, but receives nothing.
      fabric.transport.wait(fabric.processor.now() + Duration::ps(1));
      m.progress();
    }
    unexpected_bytes = m.use().unexpected * 100;
    for (int i = 0; i < 3 * messages; ++i) finish(m, m.receive(from(any_source, 1, room)));
    for (int i = 1; i < 4; ++i) finish(m, m.receive(from(i, 2, room)));
  });
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_LE(unexpected_bytes, 3u * (8192 + 1000));
}

TEST_P(OnAnyNetwork, SizesTravelWithoutData) {
  const Options settings{.eager_limit = Bytes{50}, .head_start = head_start(), .split = split()};
  TestnetOptions local = options();
  local.carries_data = false;
  const Status status = run_on_testnet(2, local, [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    for (const std::size_t size : {std::size_t{40}, std::size_t{400}}) {
      for (const bool internal : {false, true}) {
        if (fabric.self.index == 0) {
          const std::vector<std::byte> data = pattern(size, 7);
          Sending sending = to(1, 0, 0, data);
          sending.internal = internal;
          finish(m, m.send(sending));
          continue;
        }
        std::vector<std::byte> room(size);
        Receiving receiving = from(0, 0, room);
        receiving.internal = internal;
        EXPECT_EQ(finish(m, m.receive(receiving)).size, size);
        EXPECT_EQ(room, internal ? pattern(size, 7) : std::vector<std::byte>(size));
      }
    }
  });
  EXPECT_TRUE(status) << status.error().text();
}

Task pass_on(Messenger& m, int rank, int ranks, int& token) {
  Receiving in;
  in.source = (rank + ranks - 1) % ranks;
  in.data = &token;
  in.size = sizeof token;
  if (rank > 0) co_await finished(m, m.receive(in));
  ++token;
  Sending out;
  out.to = RankId(static_cast<std::uint32_t>((rank + 1) % ranks));
  out.source = rank;
  out.data = &token;
  out.size = sizeof token;
  co_await finished(m, m.send(out));
  if (rank == 0) co_await finished(m, m.receive(in));
  co_return rank;
}

TEST_P(OnAnyNetwork, TasksWaitWithoutBlocking) {
  const Options settings{.split = split()};
  const Status status = run_on_testnet(5, options(), [&](const Fabric& fabric) {
    Messenger m(fabric, settings);
    int token = 0;
    const int me = static_cast<int>(fabric.self.index);
    const Task task = pass_on(m, me, 5, token);
    EXPECT_EQ(run(m, task), me);
    EXPECT_EQ(token, me == 0 ? 5 : me + 1);
  });
  EXPECT_TRUE(status) << status.error().text();
}

INSTANTIATE_TEST_SUITE_P(Networks, OnAnyNetwork,
                         testing::Values(Net{1, 1, true}, Net{2, 1, false}, Net{3, 3, true},
                                         Net{4, 4, false}, Net{5, 2, false}, Net{6, 1, false},
                                         Net{7, 3, true, 20}, Net{8, 2, false, 40},
                                         Net{9, 1, false, 30}, Net{10, 1, true, 0, 3000},
                                         Net{11, 3, true, 30, 1500}, Net{12, 2, false, 20, 20000}));

// In a process of its own: ranks that wait for ever leave their memory behind.
TEST(DeadlockDeathTest, IsAnError) {
  const auto wait_for_ever = [] {
    const Options settings;
    const Status status = run_on_testnet(2, {}, [&](const Fabric& fabric) {
      Messenger m(fabric, settings);
      std::vector<std::byte> room(4);
      Request* const never = m.receive(from(any_source, any_tag, room));
      m.wait(never);
    });
    std::_Exit(status ? 0 : 3);
  };
  EXPECT_EXIT(wait_for_ever(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace weft::mp
