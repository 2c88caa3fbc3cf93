// SPDX-License-Identifier: Apache-2.0
// Mail alone: what crosses from one worker or process to another, without a router that acts on it.
#include "weft/simulate/router/exchange.hpp"

#include <thread>

#include <gtest/gtest.h>

#include <weft/parallel/processes/local.hpp>
#include <weft/simulate/router/cards.hpp>
#include <weft/simulate/router/flow.hpp>
#include <weft/simulate/router/remote_processes.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

constexpr Vc vc1{1};

// The output of router 2 in a ring of six that leads to router 3: from the first half to the
// second.
OutputIndex crossing(const State& state) {
  const RouterIndex r = state.placement.find(RouterId(2));
  const auto ports = state.setup.graph.ports(RouterId(2));
  const std::uint32_t port = ports[0].peer == RouterId(3) ? 0 : 1;
  return state.output_at(r, LocalOutput(port));
}

// The same cable's buffer, from the side of router 3.
InputIndex buffer_of(const State& state) {
  const RouterIndex r = state.placement.find(RouterId(3));
  const auto ports = state.setup.graph.ports(RouterId(3));
  const std::uint32_t port = ports[0].peer == RouterId(2) ? 0 : 1;
  return state.routers[r].first_input + LocalInput(port * state.setup.vcs);
}

void depart(State& state, int worker, Input& in, std::int64_t stamp_at) {
  Slot& gone = state.slot(in, in.head++);
  gone.head_at = stamp_at;
  gone.route = in.departed += gone.size();
  mail_credit(state, worker, in, stamp_at);
}

int packets_in(const Input& in) {
  return static_cast<std::uint16_t>(in.tail - in.head);
}

TEST(Exchange, PacketsGoToAnotherWorkerAndCreditsComeBack) {
  TestState test("ring:6", "dor", test_machine(), 2);
  State& state = *test.state;
  const Output& out = state.outputs[crossing(state)];
  const RouterIndex to = out.router;
  Input& mirror = state.inputs[out.target + vc1];
  Input& real = state.inputs[out.real_target + vc1];

  begin_mail(state, 0, 0);
  EXPECT_EQ(state.worker(0).mailed_at, INT64_MAX);
  push(state, 0, out, vc1, test_packet(5000, 200));
  EXPECT_EQ(state.worker(0).mailed_at, 5000);
  EXPECT_EQ(packets_in(mirror), 1);
  EXPECT_EQ(packets_in(real), 0);  // Not before the mail is read.
  read_mail(state, 0, 0);
  read_mail(state, 1, 1);  // Neither another worker nor the other side has it.
  EXPECT_EQ(packets_in(real), 0);
  read_mail(state, 1, 0);
  ASSERT_EQ(packets_in(real), 1);
  EXPECT_EQ(state.slot(real, real.head).size(), 200u);
  EXPECT_TRUE(has_bit(state.unrouted(to), out.real_target + vc1 - state.routers[to].first_input));
  EXPECT_LT(state.routers[to].wake_at, never_at);
  read_mail(state, 1, 0);
  EXPECT_EQ(packets_in(real), 1);  // Read once.

  begin_mail(state, 1, 1);
  depart(state, 1, real, 9000);
  EXPECT_EQ(state.worker(1).mailed_at, 9000);
  EXPECT_EQ(packets_in(mirror), 1);
  read_mail(state, 0, 1);
  EXPECT_EQ(packets_in(mirror), 0);
  EXPECT_EQ(state.slot(mirror, mirror.head - 1u).head_at, 9000);
}

TEST(Exchange, MessagesReturnToTheirPool) {
  TestState test("ring:6", "dor", test_machine(), 2);
  State& state = *test.state;
  const std::uint32_t id = state.messages.make(0);
  begin_mail(state, 1, 0);
  return_message(state, 1, id);
  EXPECT_EQ(state.worker(1).mailed_at, INT64_MAX);  // Nothing happens because of it.
  EXPECT_NE(state.messages.make(0), id);
  read_mail(state, 0, 0);
  EXPECT_EQ(state.messages.make(0), id);
}

// Runs both processes, each on a thread of its own.
template <typename Play>
void in_two_processes(Play&& play) {
  const auto peers = make_local_group(2);
  const auto run = [&](ProcessGroup& self) {
    TestState test("ring:6", "dor", test_machine(), 2, &self);
    RemoteProcesses remote(*test.state, self, false);
    test.state->remote = &remote;
    play(*test.state, remote, self.self());
  };
  std::thread other([&] { run(*peers[1]); });
  run(*peers[0]);
  other.join();
}

TEST(RemoteProcesses, PacketsGoOutAndCreditsComeBack) {
  in_two_processes([](State& state, RemoteProcesses& remote, int self) {
    if (self == 0) {
      const Output& out = state.outputs[crossing(state)];
      send_message(state, {NodeId(2), NodeId(3), Bytes{200}, 77, Duration::zero()}, Time::ps(1));
      Slot packet = test_packet(5000, 200);
      packet.node = 3;
      packet.message = 0;  // The first of its pool.
      push(state, 0, out, vc1, packet);
      const Input& mirror = state.inputs[out.target + vc1];
      remote.exchange();
      EXPECT_EQ(packets_in(mirror), 1);
      remote.exchange();
      EXPECT_EQ(packets_in(mirror), 0);
      EXPECT_EQ(state.slot(mirror, mirror.head - 1u).head_at, 9000);
    } else {
      Input& in = state.inputs[buffer_of(state) + vc1];
      remote.exchange();
      ASSERT_EQ(packets_in(in), 1);
      // The notice came first, so the packet belongs to a message whose size is known here.
      const Slot packet = state.slot(in, in.head);
      EXPECT_EQ(state.messages[packet.message].size, 200);
      EXPECT_EQ(state.messages[packet.message].cookie, 77u);
      depart(state, 0, in, 9000);
      remote.exchange();
    }
  });
}

TEST(RemoteProcesses, AgreeOnTheFirstWindowAndTheFirstFailure) {
  in_two_processes([](State&, RemoteProcesses& remote, int self) {
    std::atomic<std::int64_t> bulletin = self == 0 ? never_at : 123;
    const Stretch stretch = remote.agree(self == 0 ? 40 : 30, 1, &bulletin);
    EXPECT_EQ(stretch.first, 30);
    EXPECT_EQ(stretch.windows, 2);  // All were busy: twice as far.
    EXPECT_EQ(bulletin.load(), 123);
    EXPECT_EQ(remote.agree(50, 0, nullptr).windows, 1);
    EXPECT_EQ(remote.first_failure(never_at, RouterId(0), ""), "");
    const std::string mine = "failure of " + std::to_string(self);
    EXPECT_EQ(remote.first_failure(7, RouterId(self == 0 ? 5 : 4), mine), "failure of 1");
  });
}

}  // namespace
}  // namespace weft::detail
