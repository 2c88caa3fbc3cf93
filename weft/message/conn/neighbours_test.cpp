// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/conn/neighbours.hpp>
#include <weft/message/conn/test_network.hpp>

namespace weft::conn {
namespace {

TEST(Neighbours, AreThoseOfTheMode) {
  TestRank managed;
  const Neighbours few(managed.state);
  EXPECT_EQ(std::vector<RankId>(few.all().begin(), few.all().end()),
            managed.layout.neighbours_of(RankId(0)));
  Options options;
  options.mode = Mode::full;
  TestRank full(options);
  EXPECT_EQ(Neighbours(full.state).all().size(), 8u);
  options.mode = Mode::on_demand;
  TestRank on_demand(options);
  EXPECT_TRUE(Neighbours(on_demand.state).all().empty());
}

TEST(Neighbours, LeadToEverybodyOverOneRelay) {
  TestRank rank;
  Neighbours neighbours(rank.state);
  EXPECT_FALSE(neighbours.find_route(RankId(1)).found) << "nothing is open yet";
  neighbours.forget_routes();
  rank.open_neighbours();
  for (std::uint32_t r = 1; r < 9; ++r) {
    const RankId target(r);
    const Route route = neighbours.find_route(target);
    ASSERT_TRUE(route.found) << r;
    if (rank.layout.neighbours(RankId(0), target)) {
      EXPECT_EQ(route.left, 0);
      EXPECT_EQ(route.next, target);
    } else {
      EXPECT_EQ(route.left, 1);
      EXPECT_TRUE(rank.layout.neighbours(route.next, target));
      EXPECT_FALSE(neighbours.find_route(target, 0).found);
    }
  }
}

TEST(Neighbours, RoutesAvoidWhoIsLostAndPairsThatAreSeparated) {
  TestRank rank;
  Neighbours neighbours(rank.state);
  rank.open_neighbours();
  const RankId target = rank.stranger();
  const RankId first = neighbours.find_route(target).next;
  EXPECT_TRUE(neighbours.separate(first, target));
  // All connected ranks are told, once.
  ASSERT_EQ(rank.network.posted.size(), neighbours.all().size());
  EXPECT_EQ(rank.network.posted.front().head.verb, Verb::apart);
  EXPECT_FALSE(neighbours.separate(target, first));
  EXPECT_EQ(rank.network.posted.size(), neighbours.all().size());
  neighbours.forget_routes();
  const Route second = neighbours.find_route(target);
  ASSERT_TRUE(second.found);
  EXPECT_NE(second.next, first);
  rank.state.gone.insert(second.next.index);
  neighbours.forget_routes();
  const Route third = neighbours.find_route(target);
  EXPECT_TRUE(!third.found || (third.next != second.next && third.left > 1));
  rank.state.gone.insert(target.index);
  EXPECT_FALSE(neighbours.find_route(target).found);
}

TEST(Neighbours, ANewOneHearsWhatItMissed) {
  TestRank rank;
  Neighbours neighbours(rank.state);
  rank.state.gone.insert(5);
  neighbours.separate(RankId(3), RankId(7));
  ASSERT_TRUE(rank.network.posted.empty()) << "nobody is connected";
  neighbours.inform(RankId(1));
  ASSERT_EQ(rank.network.posted.size(), 2u);
  EXPECT_EQ(rank.network.posted[0].head.verb, Verb::gone);
  EXPECT_EQ(rank.network.posted[0].head.source, 5u);
  EXPECT_EQ(rank.network.posted[1].head.verb, Verb::apart);
  EXPECT_EQ(rank.network.posted[1].peer, RankId(1));
}

}  // namespace
}  // namespace weft::conn
