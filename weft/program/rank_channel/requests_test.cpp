// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/program/rank_channel/requests.hpp>

namespace weft {
namespace {

template <typename T, typename Unpack>
T there_and_back(const T& value, Unpack&& unpack) {
  Packer out;
  pack(value, out);
  const std::vector<std::byte> bytes = out.take();
  Unpacker in(bytes);
  T back = unpack(in);
  EXPECT_TRUE(in.empty());
  return back;
}

TEST(Requests, WelcomeKeepsItsFields) {
  RankWelcome welcome;
  welcome.self = RankId(3);
  welcome.ranks = 5;
  welcome.ordered = false;
  welcome.now = Time::ps(77);
  welcome.call_overhead = Duration::ns(2);
  welcome.messages.eager_limit = Bytes{123};
  welcome.processor_name = "(1,2)";
  welcome.nodes = {0, 0, 1, 1, 2};
  welcome.forced_algorithms = {"alltoall=bruck", "bcast=binomial"};
  welcome.grid = {4, 2};
  welcome.connections.pair_frames = 2;
  const RankWelcome back = there_and_back(welcome, unpack_welcome);
  EXPECT_EQ(back.self, welcome.self);
  EXPECT_EQ(back.ranks, 5u);
  EXPECT_FALSE(back.ordered);
  EXPECT_TRUE(back.carries_data);
  EXPECT_EQ(back.now, welcome.now);
  EXPECT_EQ(back.call_overhead, welcome.call_overhead);
  EXPECT_EQ(back.messages.eager_limit, welcome.messages.eager_limit);
  EXPECT_EQ(back.processor_name, welcome.processor_name);
  EXPECT_EQ(back.nodes, welcome.nodes);
  EXPECT_EQ(back.forced_algorithms, welcome.forced_algorithms);
  EXPECT_EQ(back.grid, welcome.grid);
  EXPECT_TRUE(back.groups.empty());
  EXPECT_EQ(back.connections.pair_frames, 2u);
}

TEST(Requests, ReportKeepsItsFields) {
  RankReport report;
  report.calls = {{"MPI_Send", 3, 24, Duration::ns(5)}, {"MPI_Recv", 1, 8, Duration::us(1)}};
  report.algorithms = {{"bcast=binomial", 9}};
  report.unexpected = 4;
  report.running = true;
  const RankReport back = there_and_back(report, unpack_report);
  ASSERT_EQ(back.calls.size(), 2u);
  EXPECT_EQ(back.calls[1].call, "MPI_Recv");
  EXPECT_EQ(back.calls[0].bytes, 24u);
  EXPECT_EQ(back.calls[0].inside, Duration::ns(5));
  ASSERT_EQ(back.algorithms.size(), 1u);
  EXPECT_EQ(back.algorithms[0].calls, 9u);
  EXPECT_EQ(back.unexpected, 4u);
  EXPECT_TRUE(back.running);
}

TEST(Requests, WaitKeepsItsFields) {
  RankWait wait;
  wait.waiting = {"MPI_Recv", "a message from rank 1", {RankId(1)}, 0};
  wait.threads = {{"MPI_Wait", "all of 2 requests", {RankId(1), RankId(2)}, 3}};
  wait.idle = Duration::ms(4);
  const RankWait back = there_and_back(wait, unpack_wait);
  EXPECT_EQ(back.waiting.call, "MPI_Recv");
  EXPECT_EQ(back.waiting.what, "a message from rank 1");
  EXPECT_EQ(back.waiting.on, wait.waiting.on);
  ASSERT_EQ(back.threads.size(), 1u);
  EXPECT_EQ(back.threads[0].thread, 3u);
  EXPECT_EQ(back.idle, wait.idle);
}

Completion there_and_back(const Completion& completion) {
  Packer out;
  pack(completion, out);
  const std::vector<std::byte> bytes = out.take();
  Unpacker in(bytes);
  Completion back;
  unpack(in, back);
  EXPECT_TRUE(in.empty());
  return back;
}

TEST(Requests, DataOfFramesBelongsToTheReader) {
  Completion frame;
  frame.peer = RankId(2);
  frame.cookie = 5;
  frame.size = 3;
  frame.head[55] = std::byte{9};
  frame.data = std::make_unique<std::byte[]>(3);
  frame.data[2] = std::byte{7};
  const Completion back = there_and_back(frame);
  EXPECT_EQ(back.kind, Completion::Kind::frame);
  EXPECT_EQ(back.peer, RankId(2));
  EXPECT_EQ(back.head, frame.head);
  ASSERT_NE(back.data, nullptr);
  EXPECT_EQ(back.data[2], std::byte{7});
  Completion empty;
  empty.size = 100;  // Of data that did not travel.
  EXPECT_EQ(there_and_back(empty).data, nullptr);
}

TEST(Requests, DataOfWritesIsPutInItsPlace) {
  std::array<std::byte, 4> place = {};
  Completion written;
  written.kind = Completion::Kind::written;
  written.size = place.size();
  written.data = std::make_unique<std::byte[]>(place.size());
  written.data[3] = std::byte{8};
  written.target = place.data();
  EXPECT_EQ(there_and_back(written).data, nullptr);
  EXPECT_EQ(place[3], std::byte{8});
}

}  // namespace
}  // namespace weft
