// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/mp/request_table.hpp>
#include <weft/message/mp/test_port.hpp>

namespace weft::mp {
namespace {

TEST(RequestTable, AnIdNeverFindsAnotherRequest) {
  TestPort port;
  RequestTable table(port.fabric());
  Request* const first = table.make(Request::Kind::send);
  const std::uint64_t id = RequestTable::id_of(first);
  EXPECT_EQ(table.find(id), first);
  EXPECT_TRUE(table.any_send_open());
  table.complete(first);
  EXPECT_FALSE(table.any_send_open());
  EXPECT_EQ(table.find(id), first) << "its owner has not let go";
  table.release(first);
  EXPECT_EQ(table.find(id), nullptr);
  Request* const second = table.make(Request::Kind::receive);
  EXPECT_EQ(second, first) << "memory is used again";
  EXPECT_EQ(table.find(id), nullptr);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(~std::uint64_t{0}), nullptr);
}

TEST(RequestTable, FindsAllOfMany) {
  TestPort port;
  RequestTable table(port.fabric());
  std::vector<Request*> made;
  for (int i = 0; i < 100; ++i) made.push_back(table.make(Request::Kind::receive));
  for (Request* const one : made) EXPECT_EQ(table.find(RequestTable::id_of(one)), one);
  int open = 0;
  table.each_open([&](const Request&) { ++open; });
  EXPECT_EQ(open, 100);
}

TEST(RequestTable, WhatWasReleasedEarlyIsFreedWhenDone) {
  TestPort port;
  RequestTable table(port.fabric());
  Request* const request = table.make(Request::Kind::receive);
  const std::uint64_t id = RequestTable::id_of(request);
  request->region = 9;
  table.release(request);
  EXPECT_EQ(table.find(id), request);
  table.complete(request);
  EXPECT_EQ(table.find(id), nullptr);
  EXPECT_EQ(port.closed, std::vector<std::uint64_t>{9});
}

TEST(RequestTable, DataIsCompleteWhenEveryByteHasArrivedOnce) {
  TestPort port;
  RequestTable table(port.fabric());
  Request* const request = table.make(Request::Kind::receive);
  request->peer = RankId(2);
  request->sender = 42;
  request->size = request->arrival.size = request->missing = 100;
  table.add_arrived(request, 0, 60);
  table.add_arrived(request, 0, 60);  // The same part again.
  EXPECT_FALSE(request->done);
  EXPECT_TRUE(port.complete.empty());
  table.add_arrived(request, 50, 50);
  EXPECT_TRUE(request->done);
  ASSERT_EQ(port.complete.size(), 1u);
  EXPECT_EQ(port.complete.front(), std::pair(2u, std::uint64_t{42}));
}

}  // namespace
}  // namespace weft::mp
