// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/simulate/setup/linked.hpp>
#include <weft/simulate/setup/scene.hpp>

namespace weft {
namespace {

TEST(Plan, ComesBackFromItsText) {
  Plan plan;
  plan.net = "torus:4x4";
  plan.sets = {"node.rails=2", "router.vcs=4"};
  plan.ranks = 7;
  plan.compute_factor = 2.5;
  plan.collectives = {"alltoall=bruck"};
  plan.until = Time::ps(123);
  plan.series = Duration::us(5);
  plan.label = true;
  const auto back = parse_plan(to_text(plan));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(to_text(*back), to_text(plan));
  EXPECT_EQ(back->sets, plan.sets);
  EXPECT_EQ(back->series, plan.series);
  EXPECT_FALSE(parse_plan("{}"));
  EXPECT_FALSE(parse_plan("not json"));
}

std::string problem(const std::string& net, std::vector<std::string> sets = {},
                    std::uint32_t ranks = 0) {
  Plan plan;
  plan.net = net;
  plan.sets = std::move(sets);
  plan.ranks = ranks;
  const auto scene = read_scene(plan);
  return scene ? "" : scene.error().text();
}

TEST(Scene, HasOneRankForEveryPlace) {
  Plan plan;
  plan.net = "torus:4x4";
  plan.ranks_per_node = 3;
  const auto scene = read_scene(plan);
  ASSERT_TRUE(scene) << scene.error().text();
  EXPECT_EQ(scene->placement->ranks(), 48u);
  EXPECT_EQ(scene->routing, "dor");
  EXPECT_EQ(scene->placement->node(RankId(47)), 15u);
  EXPECT_EQ(scene->machine.switch_delay, Duration::ns(140));
}

TEST(Scene, NamesWhatIsWrong) {
  EXPECT_NE(problem("").find("--net"), std::string::npos);
  EXPECT_NE(problem("toruss:4x4").find("torus"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.railss=2"}).find("rails"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.rails=3"}).find("no multiple"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"messages.split=odd"}).find("proportional"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {}, 17).find("17 ranks do not fit on 16 nodes"),
            std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"routing.policy=minimall"}).find("minimal"), std::string::npos);
}

TEST(Linked, KnowsWhatIsNoProgram) {
  const std::string path = test_file("script");
  ASSERT_TRUE(write_file(path, "#!/bin/sh\n"));
  EXPECT_NE(check_linked(path).error().text().find("weft cc"), std::string::npos);
  ASSERT_TRUE(write_file(path, std::string("\x7f"
                                           "ELF\x02",
                                           5) +
                                   std::string(200, '\xff')));
  EXPECT_FALSE(check_linked(path));
  EXPECT_NE(check_linked("/proc/self/exe").error().text().find("was not linked"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
