// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/conn/relays.hpp>
#include <weft/message/conn/test_network.hpp>

namespace weft::conn {
namespace {

Options small_windows() {
  Options options;
  options.chunk = 100;
  options.pair_window = 200;
  options.relay_window = 820;
  return options;
}

class RelaysOfOneRank : public testing::Test, public Relays::Owner {
 protected:
  RelaysOfOneRank() { rank.open_neighbours(); }
  void no_route(RankId target) override { without_route.push_back(target); }
  void was_relayed(RankId source) override { sources.push_back(source); }
  void heard(Control control, RankId) override { controls.push_back(control); }

  SendWindow::Message message(std::size_t size, std::uint64_t cookie) {
    SendWindow::Message one;
    one.data = {nullptr, size};
    one.cookie = cookie;
    one.urgent = true;
    return one;
  }
  void arrive(const Head& head, RankId from, std::size_t size) {
    Completion in;
    in.peer = from;
    in.size = sizeof(FrameHead) + size;
    in.data = std::make_unique<std::byte[]>(in.size);
    relays.on_chunk(head, in);
  }
  std::deque<TestNetwork::Posted>& posted() { return rank.network.posted; }

  TestRank rank{small_windows()};
  Neighbours neighbours{rank.state};
  Relays relays{rank.state, neighbours, *this};
  std::vector<RankId> without_route, sources;
  std::vector<Control> controls;
};

TEST_F(RelaysOfOneRank, SendPiecesWithinTheWindowUntilAcknowledged) {
  const RankId target = rank.stranger();
  const RankId next = neighbours.find_route(target).next;
  relays.send(target, message(250, 7));
  ASSERT_EQ(posted().size(), 2u) << "the window holds two pieces";
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(posted()[i].peer, next);
    EXPECT_EQ(posted()[i].head.number, i);
    EXPECT_EQ(posted()[i].head.left, 1);
    EXPECT_EQ(posted()[i].head.target, target.index);
  }
  EXPECT_FALSE(relays.drained());
  Head ack;
  ack.verb = Verb::ack;
  ack.source = target.index;
  ack.target = 0;
  ack.ack = 2;
  arrive(ack, next, 0);
  ASSERT_EQ(posted().size(), 3u);
  EXPECT_EQ(posted()[2].size, sizeof(FrameHead) + 50);
  EXPECT_TRUE(rank.state.ready.empty());
  ack.ack = 3;
  arrive(ack, next, 0);
  ASSERT_EQ(rank.state.ready.size(), 1u);
  EXPECT_EQ(rank.state.ready.front().completion.kind, Completion::Kind::sent);
  EXPECT_EQ(rank.state.ready.front().completion.cookie, 7u);
  EXPECT_TRUE(relays.drained());
  EXPECT_EQ(rank.state.counts.relayed_frames, 1u);
}

TEST_F(RelaysOfOneRank, PassFramesOnAndReturnCredit) {
  const RankId source = rank.stranger(), target(1);
  Head head;
  head.source = source.index;
  head.target = target.index;
  head.left = 1;
  const RankId from = rank.layout.neighbours_of(RankId(0)).back();
  for (std::uint32_t i = 0; i < 2; ++i) {
    head.number = i;
    arrive(head, from, 10);
    ASSERT_EQ(posted().size(), i + 1);
    EXPECT_EQ(posted()[i].peer, target);
    EXPECT_EQ(posted()[i].head.left, 0);
  }
  EXPECT_EQ(rank.state.counts.passed_frames, 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    PendingSend* const pending = rank.state.find_pending(posted()[i].cookie);
    ASSERT_NE(pending, nullptr);
    relays.release(pending->transit);
    rank.state.free_pending(*pending);
  }
  // A quarter of the window goes back at a time.
  ASSERT_EQ(posted().size(), 3u);
  EXPECT_EQ(posted()[2].peer, from);
  EXPECT_EQ(posted()[2].head.verb, Verb::credit);
  EXPECT_GE(posted()[2].head.total, 200u);
}

TEST_F(RelaysOfOneRank, WaitForCreditOfTheNextRelay) {
  const RankId target = rank.stranger();
  const RankId next = neighbours.find_route(target).next;
  rank.state.link(next).queues().used[1] = 700;
  relays.send(target, message(90, 0));
  EXPECT_TRUE(posted().empty());
  Head credit;
  credit.verb = Verb::credit;
  credit.total = 700;
  relays.on_credit(credit, next);
  EXPECT_EQ(posted().size(), 1u);
}

TEST_F(RelaysOfOneRank, SayWhenNoRouteIsLeft) {
  const RankId target = rank.stranger();
  for (const RankId peer : neighbours.all()) rank.state.link(peer).state = Link::State::none;
  relays.send(target, message(10, 0));
  EXPECT_EQ(without_route, std::vector<RankId>{target});
  EXPECT_TRUE(posted().empty());
  rank.state.link(target).state = Link::State::open;
  relays.resume_link(target);
  ASSERT_EQ(posted().size(), 1u);
  EXPECT_EQ(posted().front().peer, target);
  EXPECT_EQ(posted().front().head.left, 0);
}

TEST_F(RelaysOfOneRank, DeliverEveryFrameOnceAndAcknowledge) {
  const RankId source = rank.stranger();
  const RankId from = neighbours.find_route(source).next;
  Head head;
  head.source = source.index;
  head.target = 0;
  head.total = 150;
  head.has_data = true;
  arrive(head, from, 100);
  EXPECT_TRUE(rank.state.ready.empty());
  head.number = 1;
  head.offset = 100;
  arrive(head, from, 50);
  ASSERT_EQ(rank.state.ready.size(), 1u);
  EXPECT_EQ(rank.state.ready.front().completion.size, 150u);
  EXPECT_EQ(rank.state.ready.front().completion.peer, source);
  EXPECT_EQ(sources, std::vector<RankId>{source});
  arrive(head, from, 50);  // Its acknowledgement was lost.
  EXPECT_EQ(rank.state.ready.size(), 1u);
  ASSERT_FALSE(posted().empty());
  EXPECT_EQ(posted().back().head.verb, Verb::ack);
  EXPECT_EQ(posted().back().head.ack, 2u);
}

TEST_F(RelaysOfOneRank, RepeatWhatIsNotAcknowledged) {
  const RankId target = rank.stranger();
  const RankId first = neighbours.find_route(target).next;
  relays.send(target, message(10, 0));
  relays.send(target, Control::open);
  EXPECT_EQ(posted().size(), 2u);
  rank.state.gone.insert(first.index);
  relays.repeat_all();
  ASSERT_EQ(posted().size(), 4u);
  EXPECT_NE(posted()[2].peer, first);
  EXPECT_EQ(posted()[2].head.number, 0u);
  EXPECT_EQ(posted()[3].head.control, Control::open);
  EXPECT_EQ(rank.state.counts.repeated, 2u);
}

}  // namespace
}  // namespace weft::conn
