// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mp/rendezvous.hpp>
#include <weft/message/mp/test_port.hpp>

namespace weft::mp {
namespace {

class OneRank : public testing::Test {
 protected:
  Request* sending(std::size_t size) {
    Request* const request = requests.make(Request::Kind::send);
    request->peer = RankId(1);
    request->data = memory.data();
    request->size = size;
    return request;
  }
  Header ready(const Request* send, std::size_t size) {
    Header header;
    header.verb = Verb::ready;
    header.sender = RequestTable::id_of(send);
    header.receiver = 5;
    header.size = size;
    header.key = 77;
    return header;
  }

  TestPort port;
  Options options;
  std::vector<std::byte> memory = std::vector<std::byte>(100'000);
  PeerTable peers;
  RequestTable requests{port.fabric()};
  FrameSender sender{port.fabric(), options, peers};
  Rendezvous rendezvous{port.fabric(), requests, sender, nullptr};
};

TEST_F(OneRank, CutsAMessageByTheRatesOfItsRails) {
  port.rails = {{Rate::gbyte_per_s(1), Duration::us(1)}, {Rate::gbyte_per_s(3), Duration::us(1)}};
  Request* const send = sending(100'000);
  rendezvous.on_ready(ready(send, 100'000), RankId(1));
  ASSERT_EQ(port.written.size(), 2u);
  EXPECT_EQ(port.written[0].size, 25'000u);
  EXPECT_EQ(port.written[1].size, 75'000u);
  EXPECT_EQ(port.written[1].target.offset, 25'000u);
  EXPECT_EQ(port.written[1].header.receiver, 5u);
  rendezvous.on_sent(port.written[0].cookie);
  EXPECT_FALSE(send->done);
  rendezvous.on_sent(port.written[1].cookie);
  EXPECT_TRUE(send->done);
}

// For every split that cuts once, and every order of the ends of parts.
TEST_F(OneRank, SendsPartsOfABrokenRailAgain) {
  for (const Split split : {Split::equal, Split::proportional}) {
    for (const bool other_first : {false, true}) {
      options.split = split;
      port.written.clear();
      port.rails.assign(3, {Rate::gbyte_per_s(1), Duration::us(1)});
      Request* const send = sending(99'000);
      rendezvous.on_ready(ready(send, 99'000), RankId(1));
      ASSERT_EQ(port.written.size(), 3u);
      const TestPort::Frame lost = port.written[1];
      port.rails[1].up = false;
      if (other_first) rendezvous.on_sent(port.written[0].cookie);
      rendezvous.on_unsent(lost.cookie);
      ASSERT_EQ(port.written.size(), 5u);  // Over both rails that are left.
      EXPECT_EQ(port.written[3].path.rail, RailId(0));
      EXPECT_EQ(port.written[4].path.rail, RailId(2));
      EXPECT_EQ(port.written[3].target.offset, lost.target.offset);
      EXPECT_EQ(port.written[3].header.key, lost.target.offset);
      EXPECT_EQ(port.written[4].target.offset, lost.target.offset + port.written[3].size);
      EXPECT_EQ(port.written[3].size + port.written[4].size, lost.size);
      EXPECT_EQ(port.written[4].target.key, 77u);
      rendezvous.on_sent(lost.cookie);  // Of nothing any more.
      if (!other_first) rendezvous.on_sent(port.written[0].cookie);
      rendezvous.on_sent(port.written[2].cookie);
      rendezvous.on_sent(port.written[3].cookie);
      EXPECT_FALSE(send->done);
      rendezvous.on_sent(port.written[4].cookie);
      EXPECT_TRUE(send->done);
    }
  }
}

TEST_F(OneRank, WaitsWhileNoRailIsUp) {
  Request* const send = sending(50'000);
  rendezvous.on_ready(ready(send, 50'000), RankId(1));
  port.rails[0].up = false;
  rendezvous.on_unsent(port.written[0].cookie);
  EXPECT_EQ(port.written.size(), 1u);
  Completion change;
  change.kind = Completion::Kind::rail_up;
  change.peer = RankId(1);
  port.rails[0].up = true;
  rendezvous.on_rail_change(change);
  ASSERT_EQ(port.written.size(), 2u);
  rendezvous.on_rail_change(change);
  EXPECT_EQ(port.written.size(), 2u);
  rendezvous.on_sent(port.written[1].cookie);
  EXPECT_TRUE(send->done);
}

TEST_F(OneRank, ForgetsPartsForALostPeer) {
  Request* const send = sending(50'000);
  rendezvous.on_ready(ready(send, 50'000), RankId(1));
  rendezvous.forget(RankId(1));
  rendezvous.on_unsent(port.written[0].cookie);
  rendezvous.on_sent(port.written[0].cookie);
  EXPECT_EQ(port.written.size(), 1u);
  EXPECT_FALSE(send->done);
}

TEST_F(OneRank, WritesNoMoreThanTheReceiverHasRoomFor) {
  Request* const send = sending(50'000);
  rendezvous.on_ready(ready(send, 10'000), RankId(1));
  ASSERT_EQ(port.written.size(), 1u);
  EXPECT_EQ(port.written[0].size, 10'000u);
}

TEST_F(OneRank, IgnoresAnswersThatFitNoRequest) {
  Request* const send = sending(50'000);
  rendezvous.on_ready(ready(send, 60'000), RankId(1));  // More than there is.
  rendezvous.on_ready(ready(send, 50'000), RankId(2));  // From another rank.
  EXPECT_TRUE(port.written.empty());
  rendezvous.on_ready(ready(send, 50'000), RankId(1));
  rendezvous.on_ready(ready(send, 50'000), RankId(1));  // Twice.
  EXPECT_EQ(port.written.size(), 1u);
}

TEST_F(OneRank, AnswersWithOpenMemoryAndEndsWithTheLastPart) {
  Request* const receive = requests.make(Request::Kind::receive);
  receive->data = memory.data();
  receive->size = 80'000;
  receive->matched = true;
  receive->peer = RankId(1);
  Envelope message;
  message.peer = RankId(1);
  message.rendezvous = true;
  message.sender = 11;
  message.arrival.size = receive->arrival.size = 60'000;
  rendezvous.answer(receive, message);
  ASSERT_EQ(port.posted.size(), 1u);
  EXPECT_EQ(port.posted[0].header.verb, Verb::ready);
  EXPECT_EQ(port.posted[0].header.sender, 11u);
  EXPECT_EQ(port.posted[0].header.size, 60'000u);
  EXPECT_EQ(port.posted[0].header.key, 77u);
  Header part;
  part.verb = Verb::part;
  part.receiver = RequestTable::id_of(receive);
  Completion written;
  written.peer = RankId(1);
  written.size = 30'000;
  rendezvous.on_part(part, written);
  part.key = 50'000;  // Beyond the end.
  rendezvous.on_part(part, written);
  EXPECT_FALSE(receive->done);
  part.key = 30'000;
  rendezvous.on_part(part, written);
  EXPECT_TRUE(receive->done);
  EXPECT_EQ(port.complete.size(), 1u);
}

TEST_F(OneRank, FramesReturnCredit) {
  peers.owe(RankId(1), 100, options.credit);
  Header header;
  header.verb = Verb::cancel;
  sender.answer(RankId(1), header);
  ASSERT_EQ(port.posted.size(), 1u);
  EXPECT_EQ(port.posted[0].header.credit, 164u);
  sender.owe_credit(RankId(1), static_cast<std::size_t>(options.credit.count));
  ASSERT_EQ(port.posted.size(), 2u);
  EXPECT_EQ(port.posted[1].header.verb, Verb::credit);
}

}  // namespace
}  // namespace weft::mp
