// SPDX-License-Identifier: Apache-2.0
#include "test_crowd.hpp"
#include <gtest/gtest.h>

#include <weft/message/conn/request.hpp>

namespace weft::conn {
namespace {

struct Net {
  std::uint64_t seed;
  bool ordered;
  int refused_percent;
  std::uint32_t shortcuts;
};

class OnAnyNetwork : public testing::TestWithParam<Net> {
 protected:
  Crowd crowd() const {
    Crowd crowd;
    crowd.local.seed = GetParam().seed;
    crowd.local.ordered = GetParam().ordered;
    crowd.local.connections.refused_percent = GetParam().refused_percent;
    crowd.options.shortcuts = GetParam().shortcuts;
    return crowd;
  }
};

// Order and content are exact while connections come and go; no rank holds more than it may, and no
// relay more memory than its neighbours may have there.
TEST_P(OnAnyNetwork, CarriesEverythingInOrder) {
  Crowd crowd = this->crowd();
  crowd.groups = 4;
  crowd.group_size = 4;
  crowd.messages = 3000;
  std::uint32_t connected = 0;
  crowd.local.most_connected = &connected;
  EXPECT_EQ(crowd.run(), "");
  const Counts all = crowd.sum();
  EXPECT_GT(all.relayed_frames, 0u);
  // What was refused to one side may yet come from the other, and gives way then.
  const std::uint32_t most = 6 + GetParam().shortcuts + (GetParam().refused_percent > 0 ? 2 : 0);
  EXPECT_LE(connected, most);
  EXPECT_LE(all.held_most, most);
  EXPECT_LE(all.passing_most, std::size_t{6} * relays_most * crowd.options.relay_window);
  EXPECT_EQ(all.shortcuts > 0, GetParam().shortcuts > 0);
  if (GetParam().shortcuts == 1 || GetParam().shortcuts == 2) {
    EXPECT_GT(all.evicted, 0u);
  }
}

// A relay may be lost with all that it holds.
TEST_P(OnAnyNetwork, SurvivesTheLossOfRelays) {
  Crowd crowd = this->crowd();
  crowd.groups = 4;
  crowd.group_size = 4;
  crowd.messages = 2000;
  crowd.silent = {1, 5, 6, 12};
  crowd.local.losses = {{RankId(5), 500}, {RankId(1), 3000}, {RankId(12), 6000}, {RankId(6), 9000}};
  EXPECT_EQ(crowd.run(), "");
  EXPECT_GT(crowd.sum().repeated, 0u);
}

// As far as a rank has descriptors for; the rest goes over others.
TEST_P(OnAnyNetwork, LivesWithTooFewConnections) {
  Crowd crowd = this->crowd();
  crowd.groups = 4;
  crowd.group_size = 4;
  crowd.messages = 1000;
  crowd.local.connections.most = 4;
  std::uint32_t connected = 0;
  crowd.local.most_connected = &connected;
  EXPECT_EQ(crowd.run(), "");
  EXPECT_LE(connected, 4u);
}

// Ranks 1 and 2 do nothing but serve, as a thread does for a program that computes: 0 and 3 reach
// each other over them, and what was sent to them meanwhile is there afterwards, in order.
TEST(Serving, RelaysAndKeepsWhatComesForTheProgram) {
  constexpr int rounds = 50;
  const Layout layout({0, 0, 1, 1});
  Options options;
  options.shortcuts = 0;
  TestnetOptions local;
  local.connections.needed = true;
  const mp::Options settings;
  int busy = 2;
  std::uint64_t passed = 0;
  const Status status = run_on_testnet(4, local, [&](const Fabric& fabric) {
    const std::uint32_t self = fabric.self.index;
    Managed managed(fabric, layout, options);
    mp::Messenger m(managed.fabric(), settings);
    EXPECT_TRUE(managed.may_relay());
    const auto exchange = [&](std::uint32_t peer, int number, bool sends) {
      mp::Sending out;
      out.to = RankId(peer);
      out.source = static_cast<int>(self);
      out.data = &number;
      out.size = sizeof number;
      mp::Receiving in;
      int got = -1;
      in.source = static_cast<int>(peer);
      in.data = &got;
      in.size = sizeof got;
      mp::Request* const request = sends ? m.send(out) : m.receive(in);
      m.wait(request);
      m.release(request);
      EXPECT_EQ(sends ? number : got, number);
    };
    if (self == 0 || self == 3) {
      for (int i = 0; i < rounds; ++i) {
        exchange(self == 0 ? 1 : 2, i, true);
        exchange(3 - self, i, self == 0);
        exchange(3 - self, i, self == 3);
      }
      --busy;
    } else {
      while (busy > 0) {
        if (!managed.serve(4)) fabric.transport.wait(fabric.processor.now() + Duration::ps(1));
      }
      passed += managed.counts().passed_frames;
      for (int i = 0; i < rounds; ++i) exchange(self == 1 ? 0 : 3, i, false);
    }
    managed.leave();
  });
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_GE(passed, 2u * rounds);
}

// Frames of a rank that leaves at once still arrive.
TEST(Modes, SendTheLastFrameBeforeTheyLeave) {
  for (const Mode mode : {Mode::full, Mode::on_demand, Mode::managed}) {
    const Layout layout({0, 0, 1, 1});
    TestnetOptions local;
    local.connections.needed = true;
    Options options;
    options.mode = mode;
    int heard = 0;
    const Status status = run_on_testnet(4, local, [&](const Fabric& fabric) {
      Managed managed(fabric, layout, options);
      const mp::Options settings;
      mp::Messenger m(managed.fabric(), settings);
      if (fabric.self.index == 0) {
        mp::Sending s;
        s.to = RankId(3);
        m.release(m.send(s));
      } else if (fabric.self.index == 3) {
        mp::Request* const request = m.receive({});
        m.wait(request);
        m.release(request);
        ++heard;
      }
      managed.leave();
    });
    EXPECT_TRUE(status) << to_text(mode) << ": " << status.error().text();
    EXPECT_EQ(heard, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Nets, OnAnyNetwork,
                         testing::Values(Net{1, true, 0, 2}, Net{2, false, 0, 2},
                                         Net{3, true, 20, 2}, Net{4, false, 20, 2},
                                         Net{5, true, 0, 0}, Net{6, false, 0, 0},
                                         Net{7, true, 0, 1}, Net{8, false, 10, 16}));

}  // namespace
}  // namespace weft::conn
