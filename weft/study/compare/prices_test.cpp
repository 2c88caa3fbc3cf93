// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/study/compare/prices.hpp>

namespace weft::compare {
namespace {

std::string error_of(const std::string& text) {
  const auto prices = read_prices_text(text, "p.toml");
  return prices ? "" : prices.error().text();
}

TEST(Prices, TheExampleFileIsTheDefault) {
  const auto text = read_file(WEFT_EXAMPLES "/prices/prices.toml");
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(*text, example_prices_text());
  EXPECT_TRUE(example_prices().are_examples);
  EXPECT_TRUE(example_prices().has_watts);
}

TEST(Prices, TheSmallestSwitchWithThePortsIsTaken) {
  const auto prices = read_prices_text(
      "[switch.40]\nprice = 400\n[switch.8]\nprice = 80\n[switch]\nport_price = 20\n", "p.toml");
  ASSERT_TRUE(prices) << prices.error().text();
  EXPECT_DOUBLE_EQ(price_of_switch(*prices, 3)->price, 80);
  EXPECT_DOUBLE_EQ(price_of_switch(*prices, 8)->price, 80);
  EXPECT_DOUBLE_EQ(price_of_switch(*prices, 9)->price, 400);
  EXPECT_DOUBLE_EQ(price_of_switch(*prices, 50)->price, 50 * 20);
  EXPECT_FALSE(prices->has_watts);
}

TEST(Prices, TheKindWithTheShortestReachIsTaken) {
  const auto prices = read_prices_text(
      "[cable.optical]\nprice = 9\n[cable.active]\nreach = \"7 m\"\nprice = 5\n"
      "[cable.copper]\nreach = \"3 m\"\nprice = 1\n",
      "p.toml");
  ASSERT_TRUE(prices) << prices.error().text();
  EXPECT_EQ((*offer_for(*prices, Length{3000}))->kind, "copper");
  EXPECT_EQ((*offer_for(*prices, Length{3001}))->kind, "active");
  EXPECT_EQ((*offer_for(*prices, Length{7001}))->kind, "optical");
}

TEST(Prices, MistakesNameFileLineAndRemedy) {
  EXPECT_EQ(error_of("[card]\nprice = -1\n"), "p.toml:2: 'price' must not be below 0");
  EXPECT_NE(error_of("[card]\nprice = \"900 USD\"\n").find("p.toml:2: "), std::string::npos);
  EXPECT_NE(error_of("[card]\npreis = 900\n").find("'price' is missing"), std::string::npos);
  EXPECT_NE(error_of("[card]\nprice = 1\nwats = 2\n").find("did you mean 'watts'"),
            std::string::npos);
  EXPECT_NE(error_of("[cards]\nprice = 1\n").find("did you mean"), std::string::npos);
  EXPECT_NE(error_of("[switch.big]\nprice = 1\n").find("number of ports"), std::string::npos);
  EXPECT_NE(error_of("[cable.copper]\nreach = 3\nprice = 1\n").find("p.toml:2: "),
            std::string::npos);
}

TEST(Prices, WhatIsNotSoldSaysWhatToAdd) {
  const auto prices = read_prices_text("[switch.8]\nprice = 80\n", "p.toml");
  ASSERT_TRUE(prices) << prices.error().text();
  EXPECT_EQ(price_of_switch(*prices, 9).error().text(),
            "p.toml: no switch has 9 ports; add [switch.9], or port_price to [switch]");
  EXPECT_EQ(offer_for(*prices, Length{1000}).error().text(),
            "p.toml: no cable reaches 1 m; add a table such as [cable.optical], without reach");
}

}  // namespace
}  // namespace weft::compare
