// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/output/record/spans.hpp>

namespace weft {
namespace {

TEST(SpanKeeper, IsExactWhileThereIsRoom) {
  SpanKeeper keeper(4);
  const std::vector<CallSpan> given = {{5, 10, 3, 0}, {10, 12, 0, 1}, {20, 30, 10, 0}};
  for (const CallSpan& span : given) keeper.add(span);
  keeper.add({40, 40, 0, 2});
  EXPECT_EQ(keeper.spans(), given);
  EXPECT_EQ(keeper.bin_ps(), 0);
}

TEST(SpanKeeper, ABinGoesToWhoTookMostOfIt) {
  SpanKeeper keeper(4);
  // Five spans give bins of 50. The first bin has 30 of call 1 and 10 of call 2; the second is all
  // the program's own work except for 10.
  for (const CallSpan& span : std::vector<CallSpan>{
           {0, 10, 10, 2}, {10, 25, 0, 1}, {30, 45, 15, 1}, {60, 70, 0, 2}, {90, 100, 0, 1}}) {
    keeper.add(span);
  }
  EXPECT_EQ(keeper.bin_ps(), 50);
  EXPECT_EQ(keeper.spans(), (std::vector<CallSpan>{{0, 50, 25, 1}}));
}

TEST(SpanKeeper, LongCallsFillWholeBins) {
  SpanKeeper keeper(4);
  for (std::int64_t i = 0; i < 5; ++i)
    keeper.add({i * 10, i * 10 + 9, 0, static_cast<std::uint64_t>(i)});
  ASSERT_EQ(keeper.bin_ps(), 25);
  keeper.add({100, 1'000'000, 999'900, 7});
  const auto spans = keeper.spans();
  EXPECT_EQ(spans.back(), (CallSpan{100, 1'000'000, 999'900, 7}));
}

// Random spans of three calls, in order, with gaps.
std::vector<CallSpan> random_spans(Rng& rng, int count, std::uint64_t longest) {
  std::vector<CallSpan> spans;
  std::int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    at += static_cast<std::int64_t>(rng.below(50));
    const std::int64_t end = at + 1 + static_cast<std::int64_t>(rng.below(longest));
    spans.push_back({at, end, 0, rng.below(3)});
    at = end;
  }
  return spans;
}

// The slow reference: picosecond by picosecond. Call 3 means none.
std::vector<std::uint64_t> calls_by_bin(const std::vector<CallSpan>& spans, std::int64_t bin) {
  std::vector<std::uint64_t> calls;
  for (std::int64_t begin = 0; begin < spans.back().end_ps; begin += bin) {
    std::array<std::int64_t, 4> time = {0, 0, 0, bin};
    std::vector<std::uint64_t> order;
    for (const CallSpan& span : spans) {
      const std::int64_t part = std::min(span.end_ps, begin + bin) - std::max(span.begin_ps, begin);
      if (part <= 0) continue;
      time[span.call] += part;
      time[3] -= part;
      order.push_back(span.call);  // The first one wins a tie,
    }
    std::uint64_t best = order.empty() ? 3 : order.front();
    for (const std::uint64_t call : order) best = time[call] > time[best] ? call : best;
    calls.push_back(time[best] < time[3] ? 3 : best);  // but not against the program's own work.
  }
  return calls;
}

TEST(SpanKeeper, BinsAreThoseOfTheSlowWay) {
  Rng rng = Rng(7).stream("spans");
  for (std::uint64_t round = 0; round < 300; ++round) {
    const std::vector<CallSpan> given = random_spans(rng, 17, round + 10);
    SpanKeeper keeper(16);
    for (const CallSpan& span : given) keeper.add(span);
    ASSERT_GT(keeper.bin_ps(), 0);
    const auto expected = calls_by_bin(given, keeper.bin_ps());
    std::vector<std::uint64_t> found(expected.size(), 3);
    for (const CallSpan& span : keeper.spans()) {
      for (std::int64_t at = span.begin_ps; at < span.end_ps; at += keeper.bin_ps())
        found[static_cast<std::size_t>(at / keeper.bin_ps())] = span.call;
    }
    ASSERT_EQ(found, expected) << round;
  }
}

TEST(SpanKeeper, StaysWithinItsRoom) {
  Rng rng = Rng(8).stream("spans");
  for (std::uint64_t round = 0; round < 100; ++round) {
    SpanKeeper keeper(16);
    for (const CallSpan& span : random_spans(rng, 500, round + 10)) keeper.add(span);
    const auto spans = keeper.spans();
    ASSERT_LE(spans.size(), 17U);
    std::int64_t before = 0;
    for (const CallSpan& span : spans) {
      ASSERT_LT(span.begin_ps, span.end_ps);
      ASSERT_EQ(span.begin_ps % keeper.bin_ps(), 0);
      ASSERT_EQ(span.end_ps % keeper.bin_ps(), 0);
      ASSERT_GE(span.begin_ps, before);
      before = span.end_ps;
    }
  }
}

}  // namespace
}  // namespace weft
