// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/conn/shortcuts.hpp>
#include <weft/message/conn/test_network.hpp>

namespace weft::conn {
namespace {

Options one_shortcut() {
  Options options;
  options.shortcuts = 1;
  options.patience = 1;
  return options;
}

class ShortcutsOfOneRank : public testing::Test, public Relays::Owner, public Shortcuts::Owner {
 protected:
  ShortcutsOfOneRank() { rank.open_neighbours(); }
  void no_route(RankId) override {}
  void was_relayed(RankId) override {}
  void heard(Control, RankId) override {}
  void link_opened(RankId peer) override { opened.push_back(peer); }
  void link_refused(RankId peer) override { refused.push_back(peer); }
  void unreachable(RankId) override {}

  // Controls that were sent to the peer since the last look.
  std::vector<Control> said_to(RankId peer) {
    std::vector<Control> list;
    for (const TestNetwork::Posted& one : rank.network.posted) {
      if (one.head.target == peer.index && one.head.control != Control::none) {
        list.push_back(one.head.control);
      }
    }
    rank.network.posted.clear();
    return list;
  }
  void open(RankId peer) {
    shortcuts.want(peer);
    shortcuts.hear(Control::agree, peer);
    shortcuts.opened(peer);
    rank.network.posted.clear();
  }
  using Controls = std::vector<Control>;

  TestRank rank{one_shortcut()};
  Neighbours neighbours{rank.state};
  Relays relays{rank.state, neighbours, *this};
  Shortcuts shortcuts{rank.state, neighbours, relays, *this};
  const RankId a = rank.stranger(0), b = rank.stranger(1);
  std::vector<RankId> opened, refused;
};

TEST_F(ShortcutsOfOneRank, OpenWhenThePeerAgrees) {
  shortcuts.want(a);
  EXPECT_EQ(said_to(a), Controls{Control::open});
  EXPECT_TRUE(rank.network.connects.empty());
  shortcuts.hear(Control::agree, a);
  EXPECT_EQ(rank.network.connects, std::vector<RankId>{a});
  shortcuts.opened(a);
  EXPECT_EQ(opened, std::vector<RankId>{a});
  EXPECT_TRUE(rank.state.connected(a));
  EXPECT_EQ(rank.state.counts.shortcuts, 1u);
}

TEST_F(ShortcutsOfOneRank, TakeARequestOfThePeerForAYes) {
  shortcuts.want(a);
  shortcuts.hear(Control::open, a);
  EXPECT_EQ(rank.network.connects, std::vector<RankId>{a});
}

TEST_F(ShortcutsOfOneRank, WaitAfterAPeerDeclined) {
  shortcuts.want(a);
  said_to(a);
  shortcuts.hear(Control::decline, a);
  int relayed = 0;
  for (; said_to(a).empty() && relayed < 100; ++relayed) shortcuts.want(a);
  EXPECT_GT(relayed, 4);
  EXPECT_LT(relayed, 100);
  EXPECT_EQ(rank.state.counts.declined, 1u);
}

TEST_F(ShortcutsOfOneRank, GiveWayToAnotherPeerByAgreement) {
  open(a);
  shortcuts.note_relayed(b);
  shortcuts.want(b);
  ASSERT_EQ(rank.network.posted.size(), 1u);
  EXPECT_EQ(rank.network.posted.front().peer, a);
  EXPECT_EQ(rank.network.posted.front().head.verb, Verb::close);
  EXPECT_TRUE(rank.network.disconnects.empty()) << "the peer has not agreed";
  Head closed;
  closed.verb = Verb::closed;
  closed.number = rank.state.link(a).in;
  ++rank.state.link(a).in;
  shortcuts.on_last(closed, a);
  shortcuts.answer_close(a);
  EXPECT_EQ(rank.network.disconnects, std::vector<RankId>{a});
  EXPECT_EQ(rank.state.counts.evicted, 1u);
  rank.network.posted.clear();
  shortcuts.want(b);
  EXPECT_EQ(said_to(b), Controls{Control::open});
}

TEST_F(ShortcutsOfOneRank, StayWhileSomethingIsUnderWay) {
  open(a);
  rank.state.add_pending(PendingSend::Kind::user, a, 1);
  shortcuts.note_relayed(b);
  shortcuts.want(b);
  EXPECT_TRUE(rank.network.posted.empty());
  // The peer asks to close it: no.
  Head close;
  close.verb = Verb::close;
  close.number = rank.state.link(a).in;
  ++rank.state.link(a).in;
  shortcuts.on_last(close, a);
  shortcuts.answer_close(a);
  ASSERT_EQ(rank.network.posted.size(), 1u);
  EXPECT_EQ(rank.network.posted.front().head.verb, Verb::keep);
  EXPECT_TRUE(rank.state.connected(a));
}

TEST_F(ShortcutsOfOneRank, DeclineWithoutRoom) {
  open(a);
  rank.state.add_pending(PendingSend::Kind::user, a, 1);
  shortcuts.hear(Control::open, b);
  EXPECT_EQ(said_to(b), Controls{Control::decline});
}

TEST_F(ShortcutsOfOneRank, SayThatTheNetworkRefused) {
  shortcuts.want(a);
  shortcuts.hear(Control::agree, a);
  shortcuts.refused(a);
  EXPECT_EQ(refused, std::vector<RankId>{a});
  EXPECT_EQ(rank.state.counts.refused, 1u);
  EXPECT_FALSE(rank.state.connected(a));
}

}  // namespace
}  // namespace weft::conn
