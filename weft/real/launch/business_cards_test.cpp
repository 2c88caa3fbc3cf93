// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/business_cards.hpp"

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft::launch {
namespace {

CardPart through_bytes(const CardPart& part) {
  FieldWriter out;
  write(out, part);
  const std::string bytes = out.take();
  FieldReader in(bytes);
  CardPart read = read_card_part(in);
  EXPECT_TRUE(in.whole());
  return read;
}

TEST(Cards, ArriveWhole) {
  const std::vector<std::string> cards = {"", std::string(card_size_max, 'a'), "short",
                                          std::string(card_part_max, 'b')};
  CardCollector box(0, 4);
  EXPECT_TRUE(box.empty());
  for (std::uint32_t rank = 4; rank-- > 0;) {
    EXPECT_FALSE(box.complete());
    for (const CardPart& part : split_card(rank, 5, cards[rank]))
      ASSERT_TRUE(box.add(through_bytes(part)));
    EXPECT_TRUE(box.has(rank));
  }
  EXPECT_TRUE(box.complete());
  EXPECT_EQ(box.take(), cards);
}

TEST(Cards, AreRefusedOutOfShape) {
  CardCollector box(0, 2);
  EXPECT_FALSE(box.add({2, 0, 1, 0, "x"}));                  // No such rank.
  EXPECT_FALSE(box.add({0, 0, 4, 2, "xx"}));                 // The start is missing.
  EXPECT_FALSE(box.add({0, 0, 1, 0, "xx"}));                 // Larger than announced.
  EXPECT_FALSE(box.add({0, 0, 1, 0, ""}));                   // No progress.
  EXPECT_FALSE(box.add({0, 0, card_size_max + 1, 0, "x"}));  // Too large.
  EXPECT_FALSE(box.add({0, 0, 1, 2, ""}));
  EXPECT_TRUE(box.add({0, 0, 1, 0, "x"}));
  EXPECT_FALSE(box.add({0, 0, 1, 0, "x"}));  // Twice.
  EXPECT_FALSE(box.add({0, 0, 0, 0, ""}));
}

TEST(Cards, SurviveWhateverComes) {
  Rng rng = Rng(test_seed()).stream("cards", 0);
  for (int i = 0; i < 2000; ++i) {
    CardCollector box(0, 3);
    for (int j = 0; j < 4; ++j) {
      FieldWriter out;
      write(out, {1, 0, 8, 0, "12345678"});
      std::string bytes = out.take();
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
      FieldReader in(bytes);
      const CardPart part = read_card_part(in);
      if (in.whole()) static_cast<void>(box.add(part).has_value());
    }
  }
}

}  // namespace
}  // namespace weft::launch
