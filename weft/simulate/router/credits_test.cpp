// SPDX-License-Identifier: Apache-2.0
// Credit accounts alone: an output of one router and the buffers that it fills.
#include "weft/simulate/router/credits.hpp"

#include <gtest/gtest.h>

#include <weft/simulate/router/flow.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

constexpr Vc vc0{0}, vc1{1};
constexpr VcMask both = 3;

NetworkHardware credit_machine() {
  NetworkHardware machine = test_machine();  // Buffers of 1024 bytes.
  machine.lookahead = true;                  // A VC is free as soon as its packet has been granted.
  return machine;
}

// Router 0 of a ring, and its output at port 0 with two VCs.
class Credits : public testing::Test {
 protected:
  // Puts a packet into the buffer, as a grant does.
  void fill(Vc vc, std::int64_t size) {
    Account& account = state().accounts[state().channel(output, vc)];
    account.room -= static_cast<std::int32_t>(size);
    ++account.pushed;
    out().last_vc = static_cast<std::uint8_t>(vc.value);
    push(state(), 0, out(), vc, test_packet(0, size));
  }
  // The oldest packet leaves the buffer; the output may use its space from `at` on.
  void drain(Vc vc, std::int64_t at) {
    Input& in = state().inputs[out().target + vc];
    Slot& gone = state().slot(in, in.head++);
    gone.head_at = at;
    gone.route = in.departed += gone.size();
    return_credit(state(), 0, in, at);
  }
  std::int64_t room(Vc vc, std::int64_t size, std::int64_t now) {
    return room_at(state(), output, vc, size, now);
  }
  State& state() { return *test_.state; }
  Output& out() { return state().outputs[output]; }
  bool starved(Vc vc) { return state().inputs[out().target + vc].starved; }
  std::int64_t next() { return state().next_of(RouterIndex(0), actor_of(LocalOutput(0))); }

  const OutputIndex output{0};

 private:
  TestState test_{"ring:6", "dor", credit_machine()};
};

TEST_F(Credits, CountBytesThatAreSent) {
  EXPECT_EQ(room(vc0, 1024, 5), 5);
  fill(vc0, 256);
  EXPECT_EQ(room(vc0, 768, 5), 5);
  EXPECT_FALSE(starved(vc0));
  EXPECT_EQ(room(vc0, 769, 5), never_at);
  EXPECT_TRUE(starved(vc0));
  EXPECT_EQ(room(vc1, 1024, 5), 5);  // VCs are apart.
}

TEST_F(Credits, CountPacketsToo) {
  for (int i = 0; i < 4; ++i) fill(vc0, 1);  // Four packets of the largest size would fit.
  EXPECT_EQ(room(vc0, 1, 5), never_at);
  drain(vc0, 100);
  EXPECT_EQ(room(vc0, 1, 99), 100);
}

TEST_F(Credits, ComeBackWithTheirTimes) {
  for (int i = 0; i < 4; ++i) fill(vc0, 256);
  drain(vc0, 100);
  drain(vc0, 200);
  EXPECT_EQ(room(vc0, 256, 50), 100);
  EXPECT_EQ(room(vc0, 512, 50), 200);
  EXPECT_EQ(room(vc0, 256, 100), 100);
  EXPECT_EQ(room(vc0, 512, 150), 200);
  EXPECT_EQ(room(vc0, 512, 250), 250);
  EXPECT_EQ(room(vc0, 768, 250), never_at);
}

TEST_F(Credits, WakeAFeederThatWaits) {
  for (int i = 0; i < 4; ++i) fill(vc0, 256);
  drain(vc0, 100);  // No packet waits yet.
  EXPECT_EQ(next(), never_at);
  EXPECT_EQ(room(vc0, 256, 150), 150);
  fill(vc0, 256);
  EXPECT_EQ(room(vc0, 256, 150), never_at);
  EXPECT_EQ(state().routers[RouterIndex(0)].starved, 1);
  out().free_at = 170;
  drain(vc0, 160);
  EXPECT_EQ(next(), 170);  // Not before the output is free.
  EXPECT_FALSE(starved(vc0));
  EXPECT_EQ(state().routers[RouterIndex(0)].starved, 0);
}

TEST_F(Credits, PreferTheVcWithTheMostRoom) {
  EXPECT_EQ(pick_vc(state(), output, both, 256, 0).vc, vc1);  // Equal: the one after the last.
  out().last_vc = 1;
  EXPECT_EQ(pick_vc(state(), output, both, 256, 0).vc, vc0);
  fill(vc0, 256);
  EXPECT_EQ(pick_vc(state(), output, both, 256, 0).vc, vc1);
  EXPECT_EQ(pick_vc(state(), output, 1, 256, 0).vc, vc0);  // Only where it may go.
  for (int i = 0; i < 2; ++i) fill(vc1, 256);
  EXPECT_EQ(pick_vc(state(), output, both, 256, 0).vc, vc0);
}

TEST_F(Credits, SayWhenAVcMayBeFree) {
  for (const Vc vc : {vc0, vc1})
    for (int i = 0; i < 4; ++i) fill(vc, 256);
  EXPECT_EQ(pick_vc(state(), output, both, 256, 0).possible_at, never_at);
  drain(vc1, 300);
  drain(vc0, 400);
  const VcPick pick = pick_vc(state(), output, both, 256, 0);
  EXPECT_FALSE(pick.vc.exists());
  EXPECT_EQ(pick.possible_at, 300);
  EXPECT_EQ(pick_vc(state(), output, both, 256, 300).vc, vc1);
}

// Counted from the oldest on, credits say the same.
TEST_F(Credits, CountedInOrderSayTheSame) {
  const auto pick = [&](std::int64_t size, std::int64_t now, VcMask vcs = both) {
    return pick_vc_in_order<false>(state(), output, vcs, size, now);
  };
  EXPECT_EQ(pick(256, 0).vc, vc1);
  fill(vc1, 256);
  EXPECT_EQ(pick(256, 0).vc, vc0);
  EXPECT_EQ(pick(256, 0, 2).vc, vc1);
  for (int i = 0; i < 4; ++i) fill(vc0, 256);
  for (int i = 0; i < 3; ++i) fill(vc1, 256);
  EXPECT_EQ(pick(256, 0).possible_at, never_at);
  EXPECT_TRUE(starved(vc0) && starved(vc1));
  drain(vc1, 300);
  drain(vc0, 400);
  drain(vc0, 500);
  EXPECT_FALSE(pick(256, 299).vc.exists());
  EXPECT_EQ(pick(256, 299).possible_at, 300);
  EXPECT_EQ(pick(512, 300).possible_at, 500);
  EXPECT_EQ(pick(256, 300).vc, vc1);
  EXPECT_EQ(pick(256, 500).vc, vc0);  // It has more room now.
}

TEST_F(Credits, CountedInOrderTellTheNextOne) {
  const auto reclaim_until = [&](std::int64_t now) {
    return reclaim_in_order(state(), state().accounts[state().channel(output, vc0)],
                            state().inputs[out().target + vc0], now);
  };
  for (int i = 0; i < 3; ++i) fill(vc0, 256);
  EXPECT_EQ(reclaim_until(50), never_at);
  drain(vc0, 100);
  drain(vc0, 200);
  EXPECT_EQ(reclaim_until(99), 100);
  EXPECT_EQ(reclaim_until(100), 200);
  EXPECT_EQ(state().accounts[state().channel(output, vc0)].room, 1024 - 2 * 256);
  EXPECT_EQ(reclaim_until(200), never_at);
  EXPECT_EQ(state().accounts[state().channel(output, vc0)].room, 1024 - 256);
}

TEST_F(Credits, OfANodeAreKnownAtOnce) {
  const Router& router = state().routers[RouterIndex(0)];
  const OutputIndex to_node = router.first_output + LocalOutput(router.ports);
  const InputIndex sink = state().outputs[to_node].target;
  Account& account = state().accounts[state().channel(to_node, vc0)];
  account.room -= 1024;
  ++account.pushed;
  note_node_credit(state(), sink, test_packet(0, 1024), 0, 50);
  const std::int64_t back = 50 + state().inputs[sink].credit;
  EXPECT_EQ(room_at(state(), to_node, vc0, 1, 60), back);
  EXPECT_EQ(room_at(state(), to_node, vc0, 1024, back), back);
}

TEST(CreditStamps, FollowTheTailOrTheHead) {
  NetworkHardware machine = credit_machine();
  const auto stamp = [&](Release release) {
    machine.release = release;
    const TestState test("ring:6", "dor", machine);
    const Input& in = test.state->inputs[InputIndex(0)];
    return stamp_at(*test.state, in, 256, 1'000'000, 1'031'000) - std::int64_t{in.credit};
  };
  EXPECT_EQ(stamp(Release::tail), 1'031'000);
  // 248 bytes follow the first flit at 8 GB/s, 31 ns: a successor may start with the packet.
  EXPECT_EQ(stamp(Release::head), 1'000'000);
}

}  // namespace
}  // namespace weft::detail
