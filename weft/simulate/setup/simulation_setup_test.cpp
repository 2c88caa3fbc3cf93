// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/simulate/setup/linked.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {
namespace {

TEST(SimulationOptions, ComeBackFromTheirText) {
  SimulationOptions options;
  options.machine.net = "torus:4x4";
  options.machine.sets = {"node.rails=2", "router.vcs=4"};
  options.machine.profile = "textbook";
  options.ranks = 7;
  options.compute_factor = 2.5;
  options.collectives = {"alltoall=bruck"};
  options.until = Time::ps(123);
  options.series = Duration::us(5);
  options.label = true;
  const auto back = parse_simulation_options(to_text(options));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(to_text(*back), to_text(options));
  EXPECT_EQ(back->machine.sets, options.machine.sets);
  EXPECT_EQ(back->series, options.series);
  EXPECT_FALSE(parse_simulation_options("{}"));
  EXPECT_FALSE(parse_simulation_options("not json"));
}

std::string problem(const std::string& net, std::vector<std::string> sets = {},
                    std::uint32_t ranks = 0) {
  SimulationOptions options;
  options.machine.net = net;
  options.machine.sets = std::move(sets);
  options.ranks = ranks;
  const auto setup = read_setup(options);
  return setup ? "" : setup.error().text();
}

TEST(SimulationSetup, HasOneRankForEveryPlace) {
  SimulationOptions options;
  options.machine.net = "torus:4x4";
  options.ranks_per_node = 3;
  const auto setup = read_setup(options);
  ASSERT_TRUE(setup) << setup.error().text();
  EXPECT_EQ(setup->placement->ranks(), 48u);
  EXPECT_EQ(setup->machine.routing, "dor");
  EXPECT_EQ(setup->placement->node(RankId(47)), 15u);
  EXPECT_EQ(setup->machine.hardware.switch_delay, Duration::ns(170));
}

TEST(SimulationSetup, PlacesARankOnEveryCoreThatIsDescribed) {
  SimulationOptions options;
  options.machine.net = "torus:2x2";
  options.machine.sets = {"node.cores=3"};
  EXPECT_EQ(read_setup(options)->placement->ranks(), 12u);
  options.ranks = 6;
  EXPECT_EQ(read_setup(options)->placement->node(RankId(5)), 1u);
  options.ranks = 20;  // More than cores: five on each node.
  const auto crowded = read_setup(options);
  ASSERT_TRUE(crowded) << crowded.error().text();
  EXPECT_EQ(crowded->placement->node(RankId(19)), 3u);
  options.ranks_per_node = 4;
  EXPECT_FALSE(read_setup(options));
}

TEST(SimulationSetup, NamesWhatIsWrong) {
  EXPECT_NE(problem("").find("--net"), std::string::npos);
  EXPECT_NE(problem("toruss:4x4").find("torus"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.railss=2"}).find("rails"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.rails=3"}).find("no multiple"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.wake_time=-1 us"}).find("wake_time"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.cache=1 MiB"}).find("uncached_rate"), std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.copy_times=[\"1 KiB\"]"}).find("SIZE: TIME"),
            std::string::npos);
  EXPECT_NE(problem("torus:4x4", {"node.copy_times=[\"1 KiB: 2 us\", \"2 KiB: 1 us\"]"})
                .find("must grow"),
            std::string::npos);
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
