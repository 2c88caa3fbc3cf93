// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/scenario.hpp"

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/study/traffic/test_scenario.hpp>
#include <weft/study/traffic/variation.hpp>

namespace weft {
namespace {

std::string refusal(std::initializer_list<std::string_view> settings) {
  const auto scenario = make_scenario(test_request(settings));
  return scenario ? "" : scenario.error().text();
}

std::string file(const std::string& text) {
  const std::string path = test_file("scenario.toml");
  EXPECT_TRUE(write_file(path, text));
  return path;
}

TEST(Scenario, DefaultsFollowTheNetwork) {
  const Scenario mesh = test_scenario({"net=mesh:4x4"});
  EXPECT_EQ(mesh.routing, "dor");
  EXPECT_EQ(mesh.hardware.vcs, 1);
  EXPECT_EQ(mesh.packet, "32");  // 256 bytes in flits of 8.
  EXPECT_EQ(mesh.cycle(), Duration::ns(1));
  EXPECT_EQ(mesh.hardware.packets_per_buffer, 1);
  EXPECT_EQ(test_scenario({"net=torus:4x4"}).hardware.vcs, 2);
  EXPECT_EQ(test_scenario({"net=dragonfly:a=4,h=2,p=2"}).routing, "minimal");
  EXPECT_EQ(test_scenario({"net=hyperx:4x4"}).routing, "minimal");
  EXPECT_EQ(test_scenario({"net=fattree:k=4,levels=2"}).routing, "dest-down");
}

TEST(Scenario, BuffersHoldTheSmallestPackets) {
  const Scenario s = test_scenario({"net=mesh:4x4", "packet=2:1,32:1", "buffer=64"});
  EXPECT_EQ(s.hardware.buffer, Bytes{512});
  EXPECT_EQ(s.hardware.mtu, Bytes{256});
  EXPECT_EQ(s.hardware.packets_per_buffer, 32);
  EXPECT_EQ(test_scenario({"net=mesh:4x4", "buffer=4 KiB"}).hardware.buffer, Bytes{4096});
  EXPECT_EQ(test_scenario({"net=mesh:4x4", "packet=1", "buffer=8"}).hardware.packets_per_buffer, 8);
  EXPECT_NE(refusal({"net=mesh:4x4", "packet=32", "buffer=16"}).find("--buffer: "),
            std::string::npos);
}

TEST(Scenario, FileGivesEverythingAndOptionsGoFirst) {
  const std::string path = file(
      "[network]\ntopology = \"mesh:4x4\"\n[router]\nvcs = 2\nflit = \"16 B\"\n"
      "[routing]\npolicy = \"xy-yx\"\n[traffic]\npacket = 4\npattern = \"transpose\"\n"
      "load = 0.25\nwarmup_cycles = 10\nmeasure_cycles = 20\nseed = 5\n");
  ScenarioRequest request = test_request({});
  request.options["net"] = path;
  auto made = make_scenario(request);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->routing, "xy-yx");
  EXPECT_EQ(made->hardware.vcs, 2);
  EXPECT_EQ(made->traffic, "transpose");
  EXPECT_EQ(made->hardware.mtu, Bytes{64});
  EXPECT_EQ(made->seed, 5u);
  const auto defaults = read_defaults(request);
  EXPECT_EQ(defaults->load, "0.25");
  EXPECT_EQ(defaults->measure_cycles, 20);
  request.options["packet"] = "8";
  request.sets.push_back("router.vcs=4");
  made = make_scenario(request);
  EXPECT_EQ(made->packet, "8");
  EXPECT_EQ(made->hardware.vcs, 4);
}

TEST(Scenario, ErrorsSayWhere) {
  const std::string head = "[network]\ntopology = \"mesh:4x4\"\n";
  const auto in_file = [&](const std::string& rest) {
    const std::string path = file(head + rest);
    const std::string text = refusal({"net=" + path});
    return text.starts_with(path) ? text.substr(path.size()) : "elsewhere: " + text;
  };
  EXPECT_EQ(in_file("[traffic]\npacket = 0\n"),
            ":4: '0' is not a packet size; give flits from 1 to 1000000");
  EXPECT_EQ(in_file("[traffic]\npatern = \"uniform\"\n"),
            ":4: unknown key 'patern' in [traffic]; did you mean 'pattern'?");
  EXPECT_EQ(in_file("[routing]\npolicy = \"dorr\"\n"),
            ":4: unknown routing 'dorr'; did you mean 'dor'?");
  EXPECT_EQ(in_file("[trafic]\n"), ":3: unknown table [trafic]; did you mean 'traffic'?");
  EXPECT_EQ(refusal({"net=mesh:4x4", "pattern=tornad"}),
            "--pattern: unknown pattern 'tornad'; did you mean 'tornado'?");
  EXPECT_EQ(refusal({"net=mesh:4x4", "injection=burst"}),
            "--injection: unknown injection 'burst'; did you mean 'bursty'?");
  EXPECT_TRUE(refusal({"net=torus:4x4", "vcs=1"}).starts_with("--vcs: routing 'dor'"));
  EXPECT_TRUE(refusal({"net=mush:4x4"}).starts_with("--net: "));
  EXPECT_TRUE(refusal({"packet=4"}).starts_with("which network?"));
  EXPECT_TRUE(refusal({"net=mesh:4x4", "router.vsc=2"}).starts_with("option 'router.vsc=2'"));
  EXPECT_TRUE(refusal({"net=mesh:4x4", "seed=x"}).starts_with("--seed: "));
}

TEST(Scenario, VariationsMakeEveryCombination) {
  const auto vary = parse_variation("pattern=hotspot:0.1@1,2;uniform");
  ASSERT_TRUE(vary);
  EXPECT_EQ(vary->values, (std::vector<std::string>{"hotspot:0.1@1,2", "uniform"}));
  const auto made =
      make_scenarios(test_request({"net=mesh:4x4"}), {*vary, *parse_variation("router.vcs=1,2,4")});
  ASSERT_TRUE(made) << made.error().text();
  ASSERT_EQ(made->size(), 6u);
  EXPECT_EQ((*made)[0].label, "pattern=hotspot:0.1@1,2, router.vcs=1");
  EXPECT_EQ((*made)[5].label, "pattern=uniform, router.vcs=4");
  EXPECT_EQ((*made)[5].hardware.vcs, 4);
  EXPECT_EQ((*made)[0].topology, (*made)[5].topology);
  EXPECT_FALSE(make_scenarios(test_request({"net=mesh:4x4"}), {{"vc", {"1"}}}));
  for (const char* text : {"vcs", "=1", "vcs=", "vcs=1,,2"}) EXPECT_FALSE(parse_variation(text));
}

TEST(Scenario, GridHasTheCoordinatesOfTheNetwork) {
  EXPECT_EQ(grid_of(*make_topology("torus:4x3,p=2")).radix, (std::vector<int>{4, 3}));
  EXPECT_EQ(grid_of(*make_topology("torus:4x3,p=2")).per_point, 2);
  EXPECT_EQ(grid_of(*make_topology("dragonfly:a=4,h=2,p=2")).radix.size(), 1u);
}

}  // namespace
}  // namespace weft
