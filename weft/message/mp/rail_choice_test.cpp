// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mp/rail_choice.hpp>
#include <weft/message/mp/test_port.hpp>

namespace weft::mp {
namespace {

constexpr RankId peer(1);

class Choice : public testing::Test {
 protected:
  void rails(std::vector<RailFacts> facts) { port.rails = std::move(facts); }

  TestPort port;
  Options options;
  RailChoice choice{port.fabric(), options};
};

TEST_F(Choice, ControlTakesTheRailOfLeastLatencyThatIsUp) {
  rails({{Rate::gbyte_per_s(9), Duration::us(3)},
         {Rate::gbyte_per_s(1), Duration::us(1), false},
         {Rate::gbyte_per_s(1), Duration::us(2)}});
  EXPECT_EQ(choice.for_control(peer), RailId(2));
  for (RailFacts& facts : port.rails) facts.up = false;
  EXPECT_EQ(choice.for_control(peer), RailId(0));
}

TEST_F(Choice, EagerMessagesSpreadPeersOverRailsThatAreAlike) {
  rails({{Rate::gbyte_per_s(1), Duration::us(4)},
         {Rate::gbyte_per_s(1), Duration::us(5)},
         {Rate::gbyte_per_s(1), Duration::us(9)}});
  EXPECT_EQ(choice.for_eager(RankId(1)), RailId(1));
  EXPECT_EQ(choice.for_eager(RankId(2)), RailId(0));  // The third is too slow.
  EXPECT_EQ(choice.for_eager(RankId(3)), RailId(0));
  port.rails[1].frames = false;
  EXPECT_EQ(choice.for_eager(RankId(1)), RailId(0));
}

TEST_F(Choice, CutsByRatesOrEquallyAndAsTheMessageWishes) {
  rails({{Rate::gbyte_per_s(1), Duration::us(9)}, {Rate::gbyte_per_s(3), Duration::us(1)}});
  std::vector<RailPart> parts = choice.cut(peer, 65536, nullptr);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rail, RailId(0));
  EXPECT_EQ(parts[0].size, 16384u);
  EXPECT_EQ(parts[1].rail, RailId(1));
  EXPECT_EQ(parts[1].offset, 16384u);
  EXPECT_EQ(parts[1].size, 49152u);
  options.split = Split::equal;
  parts = choice.cut(peer, 65536, nullptr);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].size, 32768u);
  Tuning one;
  one.rails = 1;
  parts = choice.cut(peer, 65536, &one);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].rail, RailId(1));  // The quickest.
  EXPECT_EQ(parts[0].size, 65536u);
  EXPECT_EQ(choice.cut(peer, 100, nullptr).size(), 1u);  // Less than a stripe.
}

TEST_F(Choice, MessagesThatUseFewRailsSpreadPeersOverAll) {
  rails(std::vector<RailFacts>(3, {Rate::gbyte_per_s(1), Duration::us(1)}));
  const auto first_rail = [this](std::uint32_t to, std::size_t size) {
    return choice.cut(RankId(to), size, nullptr).front().rail;
  };
  EXPECT_EQ(first_rail(1, 100), RailId(1));
  EXPECT_EQ(first_rail(2, 100), RailId(2));
  EXPECT_EQ(first_rail(3, 100), RailId(0));
  options.stripe_min = Bytes{1 << 20};
  EXPECT_EQ(first_rail(2, 1 << 20), RailId(2));
  std::vector<RailPart> parts = choice.cut(RankId(1), 2 << 20, nullptr);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rail, RailId(1));
  EXPECT_EQ(parts[1].rail, RailId(2));
  port.rails[0].rate = Rate::gbyte_per_s(2);  // The fastest is always among them.
  parts = choice.cut(RankId(1), 2 << 20, nullptr);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rail, RailId(0));
  EXPECT_EQ(parts[1].rail, RailId(1));
}

TEST_F(Choice, NothingIsCutForARailThatIsDown) {
  rails(std::vector<RailFacts>(3, {Rate::gbyte_per_s(1), Duration::us(1)}));
  port.rails[1].up = false;
  for (const Split split : {Split::equal, Split::proportional}) {
    options.split = split;
    const std::vector<RailPart> parts = choice.cut(peer, 1 << 20, nullptr);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].rail, RailId(0));
    EXPECT_EQ(parts[1].rail, RailId(2));
    EXPECT_EQ(parts[0].size + parts[1].size, std::size_t{1} << 20);
  }
  for (RailFacts& facts : port.rails) facts.up = false;
  EXPECT_EQ(choice.cut(peer, 1 << 20, nullptr).size(), 3u);
}

TEST_F(Choice, NoPartIsEmpty) {
  rails({{Rate::bit_per_s(1'000'000), Duration::us(1)}, {Rate::gbyte_per_s(100), Duration::us(1)}});
  const std::vector<RailPart> parts = choice.cut(peer, 20'000, nullptr);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].rail, RailId(1));
  EXPECT_EQ(parts[0].offset, 0u);
  EXPECT_EQ(parts[0].size, 20'000u);
}

TEST(NextPart, GoesWhereLeastIsBefore) {
  constexpr std::size_t stripe = 8192;
  std::array<RailOffer, 2> offers{RailOffer{RailId(0), 1e9, Duration::us(1), 50'000, 50'000},
                                  RailOffer{RailId(1), 1e9, Duration::us(1), 0, 0, true}};
  const std::optional<RailPart> part = next_part(offers, 60'000, stripe);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->rail, RailId(1));
  // (60000 + 50000) / 2, to the next whole line, and what is left is less than a stripe.
  EXPECT_EQ(part->size, 60'000u);
  EXPECT_EQ(next_part(offers, 160'000, stripe)->size, 105'024u);
  offers[1].queued = 64 << 20;  // More than any window.
  EXPECT_FALSE(next_part(offers, 60'000, stripe).has_value());
  EXPECT_FALSE(next_part({}, 60'000, stripe).has_value());
}

TEST(FindRelief, PairsTheLatestRailWithTheFastestIdleOne) {
  std::array<RailOffer, 4> offers{RailOffer{RailId(0), 1e9, Duration::us(1), 1000, 1000},
                                  RailOffer{RailId(1), 1e6, Duration::us(1), 1000, 1000},
                                  RailOffer{RailId(2), 1e9, Duration::us(1), 0, 0, true},
                                  RailOffer{RailId(3), 2e9, Duration::us(1), 0, 0, true}};
  const std::optional<RailRelief> relief = find_relief(offers);
  ASSERT_TRUE(relief.has_value());
  EXPECT_EQ(relief->from, RailId(1));
  EXPECT_EQ(relief->to, RailId(3));
  EXPECT_DOUBLE_EQ(relief->bytes_per_s, 2e9);
  offers[2].idle = offers[3].idle = false;
  EXPECT_FALSE(find_relief(offers).has_value());
}

}  // namespace
}  // namespace weft::mp
