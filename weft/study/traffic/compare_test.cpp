// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/compare.hpp"

#include <set>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/study/traffic/test_scenario.hpp>

namespace weft {
namespace {

using Settings = std::initializer_list<std::string_view>;

Result<std::vector<Scenario>> compared(Settings settings, const std::string& policies,
                                       const std::optional<std::string>& bases = {},
                                       const std::vector<std::string>& vary = {}) {
  std::vector<Variation> variations;
  for (const std::string& text : vary) variations.push_back(*parse_variation(text));
  auto request = parse_comparison(policies, bases);
  if (!request) return std::move(request).error();
  return make_comparison(test_request(settings), variations, *request);
}

std::vector<std::string> labels(const Result<std::vector<Scenario>>& made) {
  EXPECT_TRUE(made) << made.error().text();
  std::vector<std::string> out;
  for (const Scenario& scenario : *made) out.push_back(scenario.label);
  return out;
}

std::string refusal(const Result<std::vector<Scenario>>& made) {
  EXPECT_FALSE(made);
  EXPECT_EQ(made.error().broken(), Broken::call);
  return made.error().text();
}

using Texts = std::vector<std::string>;

TEST(Compare, EveryPolicyOnEveryBasisAndTheNeediestOnce) {
  const auto made = compared({"net=mesh:4x4", "packet=4"}, "crossline,dor");
  EXPECT_EQ(labels(made),
            (Texts{"crossline, 2 VCs", "dor, 1 VC", "dor, 2 VCs", "dor, 1 VC, 2x buffer"}));
  const Texts bases = {"own", "own", "vcs", "buffers"};
  for (std::size_t i = 0; i < bases.size(); ++i) {
    EXPECT_EQ((*made)[i].compared->basis, bases[i]);
    EXPECT_EQ((*made)[i].topology, (*made)[0].topology);
  }
  EXPECT_EQ((*made)[2].hardware.vcs, 2);
  EXPECT_EQ((*made)[2].hardware.buffer_size(), Bytes{32});
  EXPECT_EQ((*made)[3].hardware.vcs, 1);
  EXPECT_EQ((*made)[3].hardware.buffer_size(), Bytes{64});
  EXPECT_EQ((*made)[3].hardware.packets_per_buffer, 2);
}

TEST(Compare, BasesAreThoseAskedForInTheirOrder) {
  EXPECT_EQ(labels(compared({"net=mesh:4x4"}, "dor,crossline", "buffers,own")),
            (Texts{"dor, 1 VC, 2x buffer", "dor, 1 VC", "crossline, 2 VCs"}));
  const auto equal = compared({"net=mesh:4x4"}, "dor,crossline", "vcs");
  EXPECT_EQ(labels(equal), (Texts{"dor, 2 VCs", "crossline, 2 VCs"}));
  EXPECT_EQ((*equal)[1].compared->basis, "vcs");
  EXPECT_EQ(labels(compared({"net=mesh:4x4"}, "dor")), (Texts{"dor, 1 VC"}));
}

TEST(Compare, BuffersAreWholeFlits) {
  // Three VCs against two: half as much again of 5 flits is 7.5.
  const int needed = vcs_needed("adaptive", *make_topology("torus:4x4"));
  ASSERT_EQ(needed, 3);
  const auto made =
      compared({"net=torus:4x4", "packet=4", "buffer=5"}, "adaptive;dor", "own,buffers");
  EXPECT_EQ(labels(made).back(), "dor, 2 VCs, 1.5x buffer rounded up");
  EXPECT_EQ(made->back().hardware.buffer, Bytes{64});
}

TEST(Compare, OtherStorageGrowsToo) {
  const std::string path = test_file("compare.toml");
  ASSERT_TRUE(write_file(path,
                         "[network]\ntopology = \"mesh:4x4\"\n[router]\nbuffer = \"64 B\"\n"
                         "output_buffer = \"64 B\"\npackets_per_buffer = 3\n"));
  const auto made = compared({"net=" + path, "packet=4"}, "dor,crossline", "buffers");
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ((*made)[0].hardware.output_buffer, Bytes{128});
  EXPECT_EQ((*made)[0].hardware.packets_per_buffer, 6);
  EXPECT_EQ((*made)[1].hardware.packets_per_buffer, 3);
}

TEST(Compare, VariationsMakeBlocksOfTheirOwn) {
  const auto made = compared({"packet=4"}, "dor;crossline:escape,cut", "own",
                             {"net=mesh:4x4,torus:4x4", "pattern=uniform,transpose"});
  ASSERT_EQ(labels(made).size(), 8u);
  EXPECT_EQ(labels(made)[0], "net=mesh:4x4, pattern=uniform, dor, 1 VC");
  const Scenario& last = made->back();
  EXPECT_TRUE(last.label.starts_with("net=torus:4x4, pattern=transpose, crossline:escape,cut, "));
  EXPECT_EQ(last.compared->block, 3u);
  EXPECT_EQ(last.compared->combination, "net=torus:4x4, pattern=transpose");
  EXPECT_TRUE(last.compared->label.starts_with("crossline:escape,cut, "));
  EXPECT_EQ(last.traffic, "transpose");
  const Texts all = labels(compared({}, "crossline,dor,adaptive", {}, {"net=mesh:4x4,torus:4x4"}));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(Compare, GivenVcsLeaveOneBasis) {
  const auto made = compared({"net=mesh:4x4", "vcs=4"}, "dor,crossline");
  EXPECT_EQ(labels(made), (Texts{"dor, 4 VCs", "crossline, 4 VCs"}));
  EXPECT_EQ((*made)[0].compared->basis, "own");
  EXPECT_EQ(labels(compared({"net=mesh:4x4"}, "dor,crossline", {}, {"vcs=2,4"})).back(),
            "vcs=4, crossline, 4 VCs");
  for (const char* given : {"vcs=4", "router.vcs=4"})
    EXPECT_TRUE(refusal(compared({"net=mesh:4x4", given}, "dor,crossline", "vcs"))
                    .starts_with("--basis is about the number of VCs, but that is given"));
  EXPECT_TRUE(refusal(compared({"net=mesh:4x4", "vcs=1"}, "dor,crossline")).starts_with("--vcs: "));
}

TEST(Compare, ErrorsSayWhatToDo) {
  const Settings mesh = {"net=mesh:4x4"};
  EXPECT_EQ(refusal(compared({"net=mesh:4x4", "routing=dor"}, "dor,crossline")),
            "--compare names the routing policies itself; leave out --routing");
  EXPECT_EQ(refusal(compared(mesh, "dor,crossline", {}, {"routing=dor"})),
            "--compare names the routing policies itself; leave out --vary routing");
  EXPECT_EQ(refusal(compared(mesh, "dor", {}, {"routing.policy=dor"})),
            "--compare names the routing policies itself; leave out --vary routing.policy");
  EXPECT_EQ(refusal(compared(mesh, "dorr,crossline")),
            "--compare: unknown routing 'dorr'; did you mean 'dor'?");
  EXPECT_EQ(refusal(compared(mesh, "crossline:escape,cut,dor")),
            "--compare: unknown routing 'cut'; if it belongs to 'crossline:escape,cut', separate "
            "policies by ';'");
  EXPECT_EQ(refusal(compared(mesh, "dor,crossline", "own,vc")),
            "--basis: unknown basis 'vc'; did you mean 'vcs'?");
  EXPECT_EQ(refusal(compared(mesh, "dor,dor")), "--compare: 'dor' is there twice");
  EXPECT_EQ(refusal(compared(mesh, "dor,crossline", "own,own")), "--basis: 'own' is there twice");
  EXPECT_TRUE(refusal(compared(mesh, "dor,")).starts_with("--compare: 'dor,' must look like"));
  EXPECT_TRUE(refusal(compared(mesh, "dor", "")).starts_with("--basis: '' must look like"));
  EXPECT_TRUE(refusal(compared({"net=fattree:k=4,levels=2"}, "dor,adaptive-up"))
                  .starts_with("--compare: "));
}

}  // namespace
}  // namespace weft
