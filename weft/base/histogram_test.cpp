// SPDX-License-Identifier: Apache-2.0
#include "weft/base/histogram.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram h;
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.min(), 0);
  EXPECT_EQ(h.max(), 0);
  EXPECT_EQ(h.percentile(500), 0);
}

TEST(Histogram, IsExactForSmallValues) {
  Histogram h;
  for (int v = 1; v <= 100; ++v) h.add(v);
  EXPECT_EQ(h.count(), 100);
  EXPECT_EQ(h.percentile(0), 1);
  EXPECT_EQ(h.percentile(500), 50);
  EXPECT_EQ(h.percentile(990), 99);
  EXPECT_EQ(h.percentile(1000), 100);
  EXPECT_EQ(h.quantile(1, 3), 34);
}

TEST(Histogram, TakesTheLargestValue) {
  Histogram h;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  h.add(most, 3);
  h.add(0);
  EXPECT_EQ(h.max(), most);
  EXPECT_EQ(h.percentile(500), most);
  EXPECT_EQ(h.percentile(250), 0);
}

TEST(Histogram, BucketsHaveNoGapsAndBoundedWidth) {
  Rng rng(test_seed());
  SCOPED_TRACE(replay_text(test_seed()));
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<std::int64_t>(rng.next() >> (1 + rng.below(63)));
    Histogram h;
    h.add(value);
    h.for_each_bucket([&](std::int64_t first, std::int64_t last, std::int64_t count) {
      EXPECT_LE(first, value);
      EXPECT_GE(last, value);
      EXPECT_LE(last - first, first / 64);
      EXPECT_EQ(count, 1);
      // The value after `last` belongs to another bucket.
      if (last == std::numeric_limits<std::int64_t>::max()) return;
      Histogram neighbour;
      neighbour.add(last + 1);
      neighbour.for_each_bucket(
          [&](std::int64_t next, std::int64_t, std::int64_t) { EXPECT_EQ(next, last + 1); });
    });
  }
}

TEST(Histogram, PercentilesAgreeWithSorting) {
  Rng rng(test_seed());
  SCOPED_TRACE(replay_text(test_seed()));
  Histogram h;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 5'000; ++i) {
    values.push_back(static_cast<std::int64_t>(rng.next() >> (2 + rng.below(50))));
    h.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (int q = 1; q <= 1000; ++q) {
    const auto rank = (static_cast<std::size_t>(q) * values.size() + 999) / 1000;
    const std::int64_t truth = values[rank - 1];
    EXPECT_GE(h.percentile(q), truth);
    EXPECT_LE(h.percentile(q), truth + truth / 64);
  }
}

TEST(Histogram, MergesInAnyOrder) {
  Rng rng(test_seed());
  SCOPED_TRACE(replay_text(test_seed()));
  Histogram parts[3], whole;
  for (int i = 0; i < 3'000; ++i) {
    const auto value = static_cast<std::int64_t>(rng.next() >> (1 + rng.below(60)));
    parts[rng.below(3)].add(value);
    whole.add(value);
  }
  Histogram forward, backward;
  for (const int i : {0, 1, 2}) forward.merge(parts[i]);
  for (const int i : {2, 1, 0}) backward.merge(parts[i]);
  EXPECT_EQ(forward, whole);
  EXPECT_EQ(backward, whole);
  forward.merge(Histogram());
  EXPECT_EQ(forward, whole);
}

TEST(Histogram, IsTheSameAfterATravel) {
  Histogram some;
  for (const std::int64_t value : {0, 5, 63, 64, 1'000'000'007}) some.add(value, value % 7 + 1);
  Packer letter;
  some.pack(letter);
  Histogram().pack(letter);
  const std::vector<std::byte> bytes = letter.take();
  Unpacker reader(bytes);
  EXPECT_EQ(Histogram::unpack(reader), some);
  EXPECT_EQ(Histogram::unpack(reader), Histogram());
  EXPECT_TRUE(reader.empty());
}

}  // namespace
}  // namespace weft
