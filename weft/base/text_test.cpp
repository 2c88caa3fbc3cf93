// SPDX-License-Identifier: Apache-2.0
#include "weft/base/text.hpp"

#include <array>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Trim, TakesBlanksOffBothEnds) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim(" \n "), "");
}

TEST(Split, GivesOneFieldMoreThanSeparators) {
  EXPECT_EQ(split("a,b", ','), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split(",a,", ','), (std::vector<std::string_view>{"", "a", ""}));
}

TEST(ParseInt, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(*parse_int("-42"), -42);
  EXPECT_EQ(*parse_int("9223372036854775807"), 9223372036854775807);
  for (const auto* bad : {"", " 1", "1 ", "+1", "0x10", "1.0", "1e3", "one", "--1"})
    EXPECT_EQ(parse_int(bad).error().message(), "'" + std::string(bad) + "' is not a whole number");
  EXPECT_EQ(parse_int("9223372036854775808").error().message(),
            "'9223372036854775808' is too large for a whole number");
}

TEST(ParseNumber, IsFiniteAndWhole) {
  EXPECT_EQ(*parse_number("0.25"), 0.25);
  EXPECT_EQ(*parse_number("-1e3"), -1000.0);
  for (const auto* bad : {"", "1,5", "nan", "inf", "1.5x", " 1"})
    EXPECT_FALSE(parse_number(bad)) << bad;
  EXPECT_EQ(parse_number("1e999").error().message(), "'1e999' is out of range");
}

TEST(Suggest, NamesTheNearestWordOrAll) {
  constexpr std::array<std::string_view, 3> known = {"vcs", "delay", "buffer"};
  EXPECT_EQ(suggest("vsc", known), "; did you mean 'vcs'?");
  EXPECT_EQ(suggest("Delay", known), "; did you mean 'delay'?");
  EXPECT_EQ(suggest("bufer", known), "; did you mean 'buffer'?");
  EXPECT_EQ(suggest("colour", known), "; known: vcs, delay, buffer");
  EXPECT_EQ(suggest("x", {}), "");
}

TEST(Suggest, DoesNotCallUnrelatedShortWordsNear) {
  constexpr std::array<std::string_view, 2> known = {"a", "k"};
  EXPECT_EQ(suggest("q", known), "; known: a, k");
}

TEST(Suggest, NamesWordsThatBeginWithTheGivenOne) {
  constexpr std::array<std::string_view, 4> known = {"valiant", "ugal-local", "ugal-global", "up"};
  EXPECT_EQ(suggest("val", known), "; did you mean 'valiant'?");
  EXPECT_EQ(suggest("UGAL", known), "; did you mean 'ugal-local' or 'ugal-global'?");
  EXPECT_EQ(suggest("ug", known), "; did you mean 'up'?");
  EXPECT_EQ(suggest("va", known), "; known: valiant, ugal-local, ugal-global, up");
  constexpr std::array<std::string_view, 4> many = {"link-one", "link-two", "link-three",
                                                    "link-four"};
  EXPECT_EQ(suggest("link", many), "; known: link-one, link-two, link-three, link-four");
}

TEST(Suggest, TakesTheFirstOfEquals) {
  constexpr std::array<std::string_view, 2> known = {"mesh1", "mesh2"};
  EXPECT_EQ(suggest("mesh", known), "; did you mean 'mesh1'?");
}

}  // namespace
}  // namespace weft
