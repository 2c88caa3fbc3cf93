// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/program/run_record/call_timeline.hpp>

namespace weft {
namespace {

Time at(std::int64_t ps) {
  return Time::zero() + Duration::ps(ps);
}

TEST(CallTimeline, KeepsCallsAndWhatTheyWaited) {
  Duration waited;
  CallTimeline timeline(
      100, [&] { return waited; }, at(100));
  const char* const send = "MPI_Send";
  const char* const barrier = "MPI_Barrier";
  timeline.entered(send, at(110));
  waited += Duration::ps(3);
  timeline.left(send, at(120));
  timeline.entered(barrier, at(125));
  waited += Duration::ps(5);
  timeline.left(barrier, at(140));
  timeline.entered(send, at(150));
  const CallTimelinePart pages = timeline.read(7, at(160));
  EXPECT_EQ(pages.calls, (std::vector<std::string>{"MPI_Send", "MPI_Barrier"}));
  EXPECT_EQ(pages.spans, (std::vector<CallSpan>{{10, 20, 3, 0}, {25, 40, 5, 1}, {50, 60, 0, 0}}));
}

TEST(CallTimeline, PagesAreBoundInTheOrderOfRanks) {
  CallTimelinePart two, one;
  two.rank = 2;
  two.calls = {"b"};
  two.spans = {{1, 2, 0, 0}};
  one.rank = 1;
  one.calls = {"a", "b"};
  one.spans = {{3, 4, 0, 1}};
  Packer packed;
  one.pack(packed);
  const auto bytes = packed.take();
  Unpacker in(bytes);
  const Timeline timeline = gather_timelines(nullptr, {two, CallTimelinePart::unpack(in)});
  EXPECT_EQ(timeline.calls, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(timeline.ranks(), 3U);
  EXPECT_TRUE(timeline.of(0).empty());
  EXPECT_EQ(timeline.of(1)[0], (CallSpan{3, 4, 0, 1}));
  EXPECT_EQ(timeline.of(2)[0], (CallSpan{1, 2, 0, 1}));
}

}  // namespace
}  // namespace weft
