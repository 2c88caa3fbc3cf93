// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/mp/peer_table.hpp>

namespace weft::mp {
namespace {

TEST(PeerTable, CreditBoundsWhatIsUnderWay) {
  PeerTable peers;
  const Bytes limit{1000};
  EXPECT_TRUE(peers.draw(RankId(3), 400, limit));
  EXPECT_FALSE(peers.draw(RankId(3), 500, limit));
  EXPECT_TRUE(peers.draw(RankId(4), 500, limit)) << "each peer has its own";
  peers.refund(RankId(3), 464);
  EXPECT_TRUE(peers.draw(RankId(3), 900, limit));
  peers.refund(RankId(3), 5000);  // Whatever a peer says, no more than was used.
  EXPECT_EQ(peers[RankId(3)].used, 0u);
}

TEST(PeerTable, CreditGoesBackAloneOnlyWhenMuchIsOwed) {
  PeerTable peers;
  const Bytes limit{1000};
  EXPECT_EQ(peers.settle(RankId(1)), 0u);
  EXPECT_FALSE(peers.owe(RankId(1), 100, limit));
  EXPECT_TRUE(peers.owe(RankId(1), 300, limit));
  EXPECT_EQ(peers.settle(RankId(1)), 100u + 300 + 2 * 64);
  EXPECT_EQ(peers.settle(RankId(1)), 0u);
}

TEST(PeerTable, HoldsEnvelopesThatCameEarlyWithTheirData) {
  PeerTable peers;
  const std::byte lent[] = {std::byte{1}, std::byte{2}};
  Completion early;
  early.size = 2;
  early.lent = lent;
  peers.hold(RankId(2), 5, std::move(early));
  Completion out;
  EXPECT_FALSE(peers.take(RankId(2), 4, out));
  EXPECT_FALSE(peers.take(RankId(1), 5, out));
  ASSERT_TRUE(peers.take(RankId(2), 5, out));
  EXPECT_EQ(out.lent, nullptr);
  EXPECT_EQ(data_of(out)[1], std::byte{2});
  EXPECT_FALSE(peers.take(RankId(2), 5, out));
}

}  // namespace
}  // namespace weft::mp
