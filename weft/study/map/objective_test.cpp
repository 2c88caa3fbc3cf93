// SPDX-License-Identifier: Apache-2.0
// The words of objectives; and powers and draws, which are the arithmetic behind them.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <weft/study/map/draws.hpp>
#include <weft/study/map/judge.hpp>
#include <weft/study/map/power.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

std::string error_of(const std::string& text) {
  const auto made = parse_objective(text);
  return made ? "none" : made.error().text();
}

TEST(Objective, NamesAreReadAndWritten) {
  for (const char* text : {"paper", "time", "hops", "hop-bytes", "link-max", "link-norm",
                           "link-norm:8", "link-norm:64", "mix:hop-bytes=1,link-max=2",
                           "mix:hops=0.5,hop-bytes=1,link-max=2,link-norm=0.25"}) {
    const Objective o = objective_of(text);
    EXPECT_EQ(to_text(o), text);
    EXPECT_EQ(objective_of(to_text(o)), o);
  }
}

TEST(Objective, WhatTheNamesMean) {
  EXPECT_EQ(objective_of("paper"), (Objective{1, 0, 1, 0, 16, false}));
  EXPECT_EQ(objective_of("time"), (Objective{1, 0, 1, 0, 16, true}));
  EXPECT_EQ(objective_of("link-norm:4"), (Objective{0, 0, 0, 1, 4, false}));
  EXPECT_EQ(objective_of("link-norm:16"), objective_of("link-norm"));
  EXPECT_EQ(objective_of("mix:hops,link-max"), objective_of("paper"));
  EXPECT_EQ(to_text(objective_of("mix:hop-bytes=1")), "hop-bytes");
  EXPECT_EQ(to_text(objective_of("mix:hop-bytes=2")), "mix:hop-bytes=2");
  EXPECT_TRUE(objective_of("paper").needs_links());
  EXPECT_FALSE(objective_of("mix:hops=2,hop-bytes=1").needs_links());
  for (const ObjectiveName& name : objective_names())
    EXPECT_EQ(parse_objective(name.name).has_value(), name.name != "mix") << name.name;
}

TEST(Objective, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(error_of("papper"), "unknown objective 'papper'; did you mean 'paper'?");
  EXPECT_EQ(error_of("paper:2"), "objective 'paper:2': 'paper' takes no more words");
  for (const char* text : {"link-norm:3", "link-norm:0", "link-norm:128", "link-norm:8x",
                           "link-norm:-2", "link-norm:1"})
    EXPECT_EQ(error_of(text),
              "objective '" + std::string(text) + "': p must be 2, 4, 8, 16, 32 or 64");
  EXPECT_NE(error_of("mix:hop-byte=1").find("no part is called 'hop-byte'"), std::string::npos);
  for (const char* weight : {"0", "-1", "17", "nan", "inf", "", "1x"})
    EXPECT_EQ(error_of("mix:hops=" + std::string(weight)),
              "objective 'mix:hops=" + std::string(weight) + "': '" + weight +
                  "' is no weight above 0, up to 12");
  EXPECT_EQ(error_of("mix:hops=7,link-max=6"),
            "objective 'mix:hops=7,link-max=6': weights may add up to 12 at most");
  for (const char* text : {"", "mix", "mix:", "mix:hops,", "mix:paper=1", "link-norm:"})
    EXPECT_NE(error_of(text), "none") << text;
}

TEST(Power, AgreesWithTheLibrary) {
  for (const double base : {0.0, 1e-12, 0.3, 1.0, 2.0, 3.7, 1e6, 8.6e12})
    for (const double exponent : {0.0, 0.001, 0.0625, 0.5, 0.77, 1.0, 1.3, 2.0, 7.75, 16.0}) {
      const double wanted = std::pow(base, exponent);
      EXPECT_NEAR(power(base, exponent), wanted, 1e-9 * wanted) << base << " ^ " << exponent;
    }
}

TEST(Draws, ExponentialHasMeanAndTail) {
  Rng rng(5);
  constexpr int draws = 200'000;
  double sum = 0, squares = 0;
  int above_two = 0;
  for (int i = 0; i < draws; ++i) {
    const double x = exponential(rng);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 64);
    sum += x;
    squares += x * x;
    above_two += x > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / draws, 1, 0.01);
  EXPECT_NEAR(squares / draws, 2, 0.05);
  EXPECT_NEAR(static_cast<double>(above_two) / draws, std::exp(-2.0), 0.004);
}

// Worked out by hand: 0 and 2 on a mesh of four, then 1 to 0.
TEST(Judge, ByHand) {
  const Problem problem =
      make_problem(network("mesh:4"), 3, {{0, 2, 100, 1}, {1, 0, 40, 1}, {2, 2, 999, 1}});
  const auto paths = paths_of(problem);
  const Judgement j = judge(problem, problem.in_order(), objective_of("paper"), *paths);
  EXPECT_EQ(j.hops, 3u);
  EXPECT_EQ(j.hop_bytes, 240);
  EXPECT_EQ(j.link_max, 100);
  EXPECT_EQ(j.link_mean, 40);  // Six links.
  EXPECT_EQ(j.value, 300);
  EXPECT_EQ(j.cut_off, 0u);
  EXPECT_EQ(j.busiest, problem.topology().graph.link(RouterId(0), 0));
  const Judgement norm = judge(problem, problem.in_order(), objective_of("link-norm:2"), *paths);
  EXPECT_NEAR(norm.value, std::sqrt((2 * 1e4 + 1600) / 6), 1e-6);
}

// A long way is no missing way.
TEST(Judge, AThousandHopsAreNotCutOff) {
  const Problem problem = make_problem(network("mesh:1001"), 1001, {{0, 1000, 5, 1}});
  const auto paths = paths_of(problem);
  const Judgement j = judge(problem, problem.in_order(), objective_of("paper"), *paths);
  EXPECT_EQ(j.hops, 1000u);
  EXPECT_EQ(j.cut_off, 0u);
}

}  // namespace
}  // namespace weft::map
